"""Where metrics go besides the run folder, if asked for: TensorBoard, Weights & Biases."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.runs.columns import Row, flat
from lengthlab.runs.run import Run

FINAL = "exact match at the end"  # by length: the step of a point is its number of digits
FIGURE = "exact match by length"


class Sink(ABC):
    """Takes lines of metrics while a run trains, and its scores when it has been tested."""

    def __init__(self, run: Run, config: Config) -> None:
        self.run = run
        self.settings = config.model_dump(mode="json")

    @abstractmethod
    def write(self, line: Row) -> None:
        """A line of metrics."""

    @abstractmethod
    def finish(self, scores: Sequence[Row], figure: Path) -> None:
        """The rows of the evaluation, and a PNG of them."""

    @abstractmethod
    def close(self) -> None: ...


@contextmanager
def sinks(run: Run, config: Config, tensorboard: bool, wandb: bool) -> Iterator[list[Sink]]:
    """The sinks asked for, closed at the end. Nothing is written before there is a line: the run folder comes first."""
    kinds = [TensorBoard] * tensorboard + [WeightsAndBiases] * wandb
    with ExitStack() as stack:
        yield [stack.enter_context(closing(kind(run, config))) for kind in kinds]


def scalars(line: Row) -> dict[str, float]:
    """A line of metrics as flat names: {"exact_match": {"10": 0.9}} becomes {"exact_match/10": 0.9}."""
    found: dict[str, float] = {}
    for name, value in line.items():
        if isinstance(value, dict):
            found |= {f"{name}/{key}": part for key, part in value.items()}
        elif name != "step":
            found[name] = value
    return found


class TensorBoard(Sink):
    """Event files in the run folder: metrics, hyperparameters beside the final scores, the figure."""

    def __init__(self, run: Run, config: Config) -> None:
        super().__init__(run, config)
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise UserError("--tensorboard: not installed; pip install 'lengthlab[tensorboard]'") from None
        self._make = SummaryWriter
        self._writer: Any = None

    def write(self, line: Row) -> None:
        if self._writer is None:  # what an earlier process wrote of later steps is void
            self._writer = self._make(str(self.run.path / "tensorboard"), purge_step=line["step"])
        for name, value in scalars(line).items():
            self._writer.add_scalar(name, value, line["step"])

    def finish(self, scores: Sequence[Row], figure: Path) -> None:
        from matplotlib.image import imread
        from torch.utils.tensorboard.summary import hparams

        writer: Any = self._writer or self._make(str(self.run.path / "tensorboard"))
        self._writer = writer
        plain = {
            name: value if isinstance(value, bool | int | float | str) else str(value)
            for name, value in flat(self.settings).items()
        }
        final = {f"final/{row['digits']}": row["exact_match"] for row in scores}
        for summary in hparams(plain, final):
            writer.file_writer.add_summary(summary)
        for name, value in final.items():
            writer.add_scalar(name, value)
        for row in scores:
            writer.add_scalar(FINAL, row["exact_match"], row["digits"])
        writer.add_image(FIGURE, imread(figure)[..., :3], dataformats="HWC")

    def close(self) -> None:
        if self._writer:
            self._writer.close()


class WeightsAndBiases(Sink):
    """A run of the project lengthlab: online for who is logged in, or else in the run folder, to be synced later."""

    def __init__(self, run: Run, config: Config) -> None:
        super().__init__(run, config)
        try:
            self._wandb: Any = import_module("wandb")
        except ImportError:
            raise UserError("--wandb: not installed; pip install 'lengthlab[wandb]'") from None
        self._session: Any = None

    def write(self, line: Row) -> None:
        self._begin().log(scalars(line), step=line["step"])

    def finish(self, scores: Sequence[Row], figure: Path) -> None:
        final = {f"final/{row['digits']}": row["exact_match"] for row in scores}
        self._begin().log({FIGURE: self._wandb.Image(str(figure))})
        self._begin().summary.update(final)

    def close(self) -> None:
        if self._session:
            self._session.finish()

    def _begin(self) -> Any:
        if self._session is None:
            self._session = self._wandb.init(
                project="lengthlab", id=self.run.id, dir=str(self.run.path), resume="allow", config=self.settings,
                settings=self._wandb.Settings(mode=self._mode(), silent=True),
            )  # fmt: skip
        return self._session

    def _mode(self) -> str:
        if asked := os.environ.get("WANDB_MODE"):
            return asked
        try:
            known = self._wandb.login(prompt=False)
        except TypeError:  # versions that always ask
            known = self._wandb.api.api_key
        return "online" if known else "offline"
