"""A whole training run: steps, metrics, evaluations, checkpoints, and the folder that keeps them."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from safetensors.torch import save
from torch import Tensor, nn

from lengthlab.config.checks import untrained_ids
from lengthlab.config.schema import Config
from lengthlab.errors import RunFailed, UserError
from lengthlab.evaluation.exact_match import Scores, exact_match
from lengthlab.evaluation.load import evaluate_run, load_weights
from lengthlab.runs import environment
from lengthlab.runs.run import Run, State
from lengthlab.runs.seal import digest
from lengthlab.training.average import WeightAverage, swapped
from lengthlab.training.checkpoint import Checkpoint, restore, save_checkpoint, state_of
from lengthlab.training.estimate import require_memory
from lengthlab.training.resume import StopRequest, find_checkpoint, is_finished, require_best, stop_requests
from lengthlab.training.schedule import Mastery
from lengthlab.training.step import Engine
from lengthlab.training.world import World


@dataclass(frozen=True)
class Watcher:
    """Who is told about progress. `metrics` gets the lines of metrics.jsonl with the speed; `note` gets sentences."""

    metrics: Callable[[dict[str, Any]], None] = lambda line: None
    note: Callable[[str], None] = lambda text: None


@dataclass
class Progress:
    """What a run has done so far; part of every checkpoint."""

    steps: int = 0
    examples: int = 0
    tokens: int = 0
    best: float = -1.0  # highest mean exact match on training lengths
    best_step: int = 0  # after which it was measured
    best_sha256: str = ""  # of the file of those weights
    mastery: dict[str, int] | None = None  # where growth by mastery stands
    seen: dict[str, int] | None = None  # problems of each length, of a finite training set
    stopped: str = ""  # why training ended before its last step


class Trainer:
    """Trains one config and writes its run folder. Only the first of several processes writes."""

    def __init__(
        self,
        config: Config,
        run: Run,
        watcher: Watcher,
        world: World = World(),  # noqa: B008
        recipe: str = "",
    ) -> None:
        """`recipe` names where the config came from; the run folder keeps it."""
        require_memory(config)
        self.config = config
        self.run = run
        self.recipe = recipe
        self.watcher = watcher
        self.world = world
        self.engine = Engine(config, world)
        self.model = self.engine.model
        self.pipeline = self.engine.pipeline
        self.average = WeightAverage(self.model, config.training.ema) if config.training.ema else None
        self.progress = Progress()
        self._processor_seconds = 0.0  # of the steps since the last line of speed.jsonl

    def train(self, fresh: bool = False) -> None:
        """All steps that are not done yet, then the evaluation; whatever happens, the status says it.

        A run that was cut short resumes from its newest whole checkpoint and ends with the same weights and metrics, to
        the last bit, as if it had not been. A finished run is left alone. `fresh` starts again from nothing.
        """
        alone = self.run.lock() if self.world.first else contextlib.nullcontext()
        with alone, stop_requests() as stop:
            if self.world.first:
                self.run.remove_parts()
            if fresh or not self._is_finished():
                self._train(fresh, stop)

    def _is_finished(self) -> bool:
        """Whether some process has trained this run to its end; all processes give the same answer."""
        return self.world.sum(float(is_finished(self.run)))[0] > 0

    def _train(self, fresh: bool, stop: StopRequest) -> None:
        with self._reported():
            self._start(fresh)
            while not self._is_over():
                self._advance()
                asked = self.world.sum(float(stop.made))[0] > 0  # all processes stop after the same step
                if self.progress.steps % self.config.training.checkpoint_every == 0 or self._is_over() or asked:
                    self._checkpoint()
                if asked:
                    raise KeyboardInterrupt
            if self.world.first:
                self.watcher.note("evaluating")
                self.evaluate(stop)

    @contextlib.contextmanager
    def _reported(self) -> Iterator[None]:
        """However this ends, the status says so."""
        steps = self.config.training.steps
        try:
            yield
        except KeyboardInterrupt:
            self._end("interrupted", f"interrupted at step {self.progress.steps} of {steps}")
            raise
        except OSError as error:
            message = f"cannot use {self.run.path} ({error.strerror}); {self.run.resume_command} resumes it"
            self._end("failed", message)
            raise RunFailed(message) from error
        except Exception as error:
            self._end("failed", str(error))
            raise
        self._end("finished", self.progress.stopped)

    def _end(self, state: State, message: str) -> None:
        if self.world.first:
            progress = self.progress
            best = {"best": {"exact_match": progress.best, "step": progress.best_step}} if progress.best_step else {}
            with contextlib.suppress(OSError):  # what keeps us from continuing may keep us from saying so
                self.run.end(state, step=progress.steps, message=message, **best)

    def _start(self, fresh: bool) -> None:
        """Prepare the run folder, and resume where an earlier process stopped if it left a checkpoint."""
        hardware = self.engine.hardware
        precision = str(hardware.precision).removeprefix("torch.")
        described = environment.describe(precision=precision, compile=hardware.compile, processes=self.world.size)
        checkpoint, damaged = find_checkpoint(self.run, self.config.id) if not fresh else (None, [])
        self._require_agreement(checkpoint)
        untrained = untrained_ids(self.pipeline, self.config.training.digits, max(self.config.evaluation.digits))
        for note in (*hardware.notes, *untrained, *damaged):
            self.watcher.note(note)
        if checkpoint is None:
            if self.world.first:
                self.run.begin(self.config, described, self.recipe)
            return
        restore(checkpoint, self.model, self.engine.optimizers)
        self.progress = Progress(**checkpoint.values["progress"])
        if self.progress.mastery:
            self.engine.mastery = Mastery(**self.progress.mastery)
        self.engine.seen.update({int(digits): count for digits, count in (self.progress.seen or {}).items()})
        if self.average:
            self.average.weights = {
                name: checkpoint.tensors[f"ema/{name}"].to(self.engine.device) for name in self.average.weights
            }
        if self.world.first:
            lines = checkpoint.beside.get("metrics", {}).get("lines")
            self.run.resume(self.config, checkpoint.step, described, lines)
            self._save_weights()  # whatever has become of them
            self.watcher.note(f"resuming after step {checkpoint.step}")

    def _require_agreement(self, checkpoint: Checkpoint | None) -> None:
        """The checkpoint is one of this config, and all processes found the same."""
        if checkpoint is not None and checkpoint.config != self.config.id:
            reason = f"its checkpoints belong to another config ({checkpoint.config}, not {self.config.id})"
            raise UserError(f"{self.run.path}: {reason}; --fresh trains this one from the start")
        step = checkpoint.step if checkpoint else 0
        if self.world.sum(float(step))[0] != step * self.world.size:
            raise UserError(
                f"{self.run.checkpoints}: not all processes see the same checkpoints; they must share a folder"
            )

    def _is_over(self) -> bool:
        return bool(self.progress.stopped) or self.progress.steps >= self.config.training.steps

    def _advance(self) -> None:
        """One step, with what belongs after it."""
        training, progress = self.config.training, self.progress
        begun = time.process_time()
        metrics = self.engine.step(progress.steps)
        self._processor_seconds += time.process_time() - begun
        progress.steps += 1
        progress.mastery = asdict(self.engine.mastery) if self.engine.mastery else None
        progress.seen = {str(digits): count for digits, count in self.engine.seen.items()} or None
        progress.examples += metrics["examples"]
        progress.tokens += metrics["tokens"]
        if self.average:
            self.average.update(progress.steps)
        limits = {"examples": training.max_examples, "tokens": training.max_tokens}
        for what, limit in limits.items():
            if limit and getattr(progress, what) >= limit:
                progress.stopped = f"stopped after step {progress.steps}: training.max_{what} reached"
        passes = {"passes": progress.examples / training.examples} if training.examples else {}
        self._report(metrics | {"examples": progress.examples, "tokens": progress.tokens} | passes)

    def _report(self, metrics: dict[str, Any]) -> None:
        """Log a step, and evaluate after it, when it is time to."""
        training, done = self.config.training, self.progress.steps
        if (done % training.log_every == 0 or self._is_over()) and self.world.first:
            self.run.log({key: value for key, value in metrics.items() if key != "tokens_per_second"})
            self.run.log_speed(done, metrics["tokens_per_second"], self._processor_seconds * self.world.size)
            self._processor_seconds = 0.0
            self.watcher.metrics(metrics)
        every = training.evaluate_every
        if every and training.evaluate_digits and (done % every == 0 or self._is_over()):
            self._evaluate_on_the_way()

    def _evaluate_on_the_way(self) -> None:
        """Exact match at a few lengths; the best weights are those that are best on training lengths."""
        training = self.config.training
        rows = exact_match(self.model, self.pipeline, training.evaluate_digits, training.evaluate_examples)
        line: dict[str, Any] = {"step": self.progress.steps, "exact_match": _scores(rows)}
        if self.average:
            with self.average.in_place():
                averaged = exact_match(self.model, self.pipeline, training.evaluate_digits, training.evaluate_examples)
            line["exact_match_ema"] = _scores(averaged)
        inside = [row.exact_match for row in rows if row.digits <= training.digits]
        if inside and sum(inside) / len(inside) > self.progress.best:
            self.progress.best, self.progress.best_step = sum(inside) / len(inside), self.progress.steps
            if self.world.first:
                content = save(self._weights())
                self.progress.best_sha256 = digest(content)
                self.run.save_weights("best", content)
        if inside and training.stop_at and min(inside) >= training.stop_at:
            reason = f"exact match {min(inside):.1%} or more on the training lengths"
            self.progress.stopped = f"stopped after step {self.progress.steps}: {reason}"
        if self.world.first:
            self.run.log(line)
            self.watcher.metrics(line)

    def evaluate(self, stop: StopRequest) -> None:
        """All scores for every length of the config, with each of the weights asked for, into the run folder."""
        require_best(self.run, self.progress.best_sha256)
        heed = lambda row: stop.heed()  # after each length
        rows = []
        for which in self.config.evaluation.weights:
            with self._with_weights(which):
                rows += evaluate_run(self.run, self.model, self.pipeline, which, progress=heed, note=self.watcher.note)
        self.run.save_evaluation(rows)

    @contextlib.contextmanager
    def _with_weights(self, which: str) -> Iterator[None]:
        """Within, the model has the weights asked for; `checks.py` has made sure that there are such."""
        if which == "last":
            yield
        elif which == "ema" and self.average:
            with self.average.in_place():
                yield
        else:
            with swapped(self.model, load_weights(self.run.weights_file("best"))):
                yield

    def _checkpoint(self) -> None:
        """Keep everything that the run needs to resume, and the weights for those who want to look at it now."""
        self.engine.require_finite_weights(self.progress.steps)
        if not self.world.first:
            return
        self._save_weights()  # first: a run resumes from its checkpoint and may end there
        state = state_of(self.model, self.engine.optimizers) | {"progress": asdict(self.progress)}
        if self.average:
            state |= {f"ema/{name}": tensor for name, tensor in self.average.weights.items()}
        beside = {"settings": self.config.model_dump(mode="json"), "metrics": self.run.metrics_seal()}
        folder, keep = self.run.checkpoints, self.config.training.keep
        save_checkpoint(folder, self.progress.steps, self.config.id, state, keep, beside)

    def _save_weights(self) -> None:
        """The last weights and their average; the best are saved when they are found."""
        self.run.save_weights("last", save(self._weights()))
        if self.average:
            self.run.save_weights("ema", save(self.average.weights))

    def _weights(self) -> dict[str, Tensor]:
        return dict(unique_tensors(self.model))


def _scores(rows: list[Scores]) -> dict[str, float]:
    return {str(row.digits): row.exact_match for row in rows}


def unique_tensors(model: nn.Module) -> list[tuple[str, Tensor]]:
    """Named parameters and persistent buffers; one that several layers share is named once."""
    named = (*model.named_parameters(), *model.named_buffers())
    kept = model.state_dict().keys()
    return [(name, tensor.detach().contiguous()) for name, tensor in named if name in kept]
