"""What is wrong with a run folder, and how to fix it: checksums, counts, checkpoints."""

from dataclasses import dataclass, field

from lengthlab.errors import UserError
from lengthlab.runs.files import Damaged
from lengthlab.runs.reader import read_run
from lengthlab.runs.run import Run
from lengthlab.runs.seal import WEIGHTS
from lengthlab.training import checkpoint
from lengthlab.training.resume import unfit


@dataclass(frozen=True)
class Finding:
    """Something wrong in a run folder, and what fixes it."""

    wrong: str
    cure: str


@dataclass
class Examined:
    """What was looked at, and what was found."""

    looked_at: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def examine(run: Run) -> Examined:
    """Look at every file of a run."""
    found = Examined()
    usable = _checkpoints(run, found)
    resume, fresh = run.resume_command if usable else "", f"{run.resume_command} --fresh"
    damage: dict[str, str] = {}

    def remember(error: Damaged) -> None:
        damage.setdefault(error.path.name, error.reason)

    for error in run.damage():
        remember(error)
    if "state" not in run.known_status():
        damage.setdefault("status.json", "says nothing of the run's state")
    read_run(run.path, remember)
    try:
        _ = run.config
    except Damaged as error:
        remember(error)
    except UserError as error:
        damage.setdefault("config.yaml", str(error))
    for name, reason in damage.items():
        recomputed = name not in ("metrics.jsonl", WEIGHTS["best"])
        cure = (
            f"{resume} writes it anew"
            if resume and recomputed
            else f"{fresh} trains it again, --trust uses it as it is"
        )
        found.findings.append(Finding(f"{name}: {reason}", cure))
    for folder in (run.checkpoints, run.examples):
        if folder in run.linked_folders() or (folder.exists() and not folder.is_dir()):
            found.findings.append(Finding(f"{folder.name}: not a folder", f"put a folder there, or {fresh}"))
    listed = run.known_status().get("files", {})
    found.looked_at.append(f"{len(listed)} checksums" if listed else "no checksums (an earlier version kept none)")
    for part in sorted(run.path.rglob(".*.part")):
        found.findings.append(Finding(f"{part.name}: left by a killed process", f"remove {part}, or resume the run"))
    return found


def _checkpoints(run: Run, found: Examined) -> bool:
    """Look at the checkpoints; whether one of them can be used."""
    usable, damaged, steps = False, list[str](), checkpoint.saved_steps(run.checkpoints)
    for step in steps:
        try:
            loaded = checkpoint.load_checkpoint(run.checkpoints, step)
            if reason := unfit(run, loaded):
                raise Damaged(run.checkpoints / f"{step:08d}.json", reason)
            usable = True
        except Damaged as error:
            damaged.append(f"checkpoints/{error.path.name}: {error.reason}")
    cure = "remove it: another is whole" if usable else "no other is whole: resuming would start from nothing"
    found.findings += [Finding(wrong, cure) for wrong in damaged]
    for tensors in run.checkpoints.glob("*.safetensors"):
        if not tensors.with_suffix(".json").exists():
            found.findings.append(Finding(f"{tensors.name}: its JSON is missing", "the checkpoint before it is used"))
    found.looked_at.append(f"checkpoints of steps {', '.join(map(str, steps))}" if steps else "no checkpoints")
    return usable
