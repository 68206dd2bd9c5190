"""What must hold between the parts of a config, checked before anything is written."""

from lengthlab.batches import Pipeline
from lengthlab.config.schema import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.errors import UserError
from lengthlab.positions import POSITIONS
from lengthlab.tasks import TASKS


def check(config: Config) -> None:
    """Refuse a config that cannot be trained or tested as it stands, naming the option to change."""
    _check_leaks(config)
    _check_lengths(config)
    _check_evaluations(config)
    if config.training.least_loops > config.model.loops:
        raise UserError(f"training.least_loops: the most is model.loops, {config.model.loops}")
    if config.training.examples and config.task.model_dump().get("lengths", "equal") != "equal":
        raise UserError("training.examples: a finite set needs operands of equal lengths; set task.lengths to equal")


def _check_leaks(config: Config) -> None:
    """Ids must not reveal how long the answer is before the model has written that much of it."""
    options = config.format.model_dump()
    varies = TASKS[config.task.kind].load().numeric and options.get("padding") in ("none", "longer")
    if not varies or options.get("order") != "standard":
        return  # answers of one length, or units first: the place of what is written next is known anyway
    for index, pair in enumerate(config.pairs):
        if POSITIONS[pair.positions.kind].load().from_places:
            where = "" if index == 0 else f"also.{index - 1}."
            reason = "the id of the answer's first digit would reveal how long the answer is"
            raise UserError(f"{where}positions.kind: {reason}; use format.padding=carry or format.order=reversed")


def require_length(pipeline: Pipeline, digits: int, wanted_by: str, training: bool = False) -> None:
    """Refuse a length that hints, position ids or an encoding's table cannot reach, naming the option to change."""
    reason = f"{wanted_by} reaches {digits} digits"
    try:
        layout = pipeline.format.widest(digits, training)
    except UserError as error:
        raise UserError(f"{error} ({reason})") from None
    for index, (pair, scheme) in enumerate(zip(pipeline.config.pairs, pipeline.positions, strict=True)):
        where = "" if index == 0 else f"also.{index - 1}."
        if refusal := scheme.refusal(layout):
            raise UserError(f"{where}positions.{refusal} ({reason})")
        encoding = ENCODINGS[pair.encoding.kind].load()
        if refusal := encoding.refusal(pair.encoding, scheme.highest(layout, training)):
            raise UserError(f"{where}encoding.{refusal} ({reason})")


def why_no_longer(config: Config, digits: int) -> str:
    """What ends at this length, so that the model cannot read a longer sum; empty if it can."""
    try:
        require_length(Pipeline(config), digits + 1, "a test")
    except UserError as error:
        where = str(error).partition(":")[0]
        what = {"format.hints": "hints", "positions": "position ids", "encoding": "its table"}
        found = next((word for path, word in what.items() if path in where), "what it can read")
        return f"{found} end{'' if found.endswith('s') else 's'} here"
    return ""


def require_problems(pipeline: Pipeline, digits: int, chain: int) -> None:
    """Refuse a test whose problems the task cannot draw: carry chains or symmetric sums of what is no sum."""
    if chain and pipeline.config.evaluation.operands != "uniform":
        raise UserError("evaluation.operands: a carry chain chooses the operands itself; set chain to 0")
    next(pipeline.test_batches(digits, 1, chain))


def untrained_ids(pipeline: Pipeline, trained: int, tested: int) -> list[str]:
    """What to say of encodings that meet ids at `tested` digits which training up to `trained` never gave."""
    notes = []
    for pair, scheme in zip(pipeline.config.pairs, pipeline.positions, strict=True):
        met = scheme.highest(pipeline.format.widest(trained, training=True), training=True)
        wanted = scheme.highest(pipeline.format.widest(tested, training=False), training=False)
        if ENCODINGS[pair.encoding.kind].load().per_id and wanted > met:
            reach = f"training meets ids up to {met}, the test up to {wanted}"
            notes.append(f"{pair.encoding.kind} encoding: {reach}; the rest stays untrained")
    return notes


def _check_lengths(config: Config) -> None:
    """Hints, position ids and tables must reach every training and test length."""
    pipeline = Pipeline(config)
    wanted = {"training.digits": config.training.digits, "evaluation.digits": max(config.evaluation.digits)}
    if config.training.evaluate_digits:
        wanted["training.evaluate_digits"] = max(config.training.evaluate_digits)
    for path, digits in sorted(wanted.items(), key=lambda item: -item[1]):  # the longest first: it needs the most
        require_length(pipeline, digits, path)
    require_length(pipeline, config.training.digits, "training.digits", training=True)
    longest = pipeline.format.widest(config.training.digits, training=True).columns - 1  # the last is only predicted
    if config.training.rows == "packed" and config.training.pack < longest:
        reason = f"an example of {config.training.digits} digits has {longest} tokens"
        raise UserError(f"training.pack: rows of {config.training.pack} tokens are too short; {reason}")
    require_problems(pipeline, max(config.evaluation.digits), config.evaluation.chain)


def _check_evaluations(config: Config) -> None:
    """What is chosen by an evaluation on the way needs one."""
    training, weights = config.training, config.evaluation.weights
    if "ema" in weights and not training.ema:
        raise UserError("evaluation.weights: ema needs training.ema, such as training.ema=0.999")
    if training.evaluate_every and any(digits <= training.digits for digits in training.evaluate_digits):
        return
    if "best" in weights:
        raise UserError("evaluation.weights: best needs training.evaluate_digits with training lengths")
    if training.stop_at:
        raise UserError("training.stop_at: needs training.evaluate_digits with training lengths")
