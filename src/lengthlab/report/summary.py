"""The numbers at the head of the page."""

from dataclasses import dataclass

from lengthlab.results import Results


@dataclass(frozen=True)
class Summary:
    """How much was run, on what."""

    experiments: int
    runs: int
    finished: int
    seeds: str  # for each setting
    hours: float  # of training, one core for each run
    machines: list[str]
    trained: str  # the longest training lengths
    tested: int  # the longest test length
    parameters: str


def summarise(results: Results) -> Summary:
    """Every run counts once, in however many experiments it takes part."""
    members = [(name, member) for name in results.experiments() for member in results.members(name)]
    trials = {member.run: results.trial(member.run) for _, member in members}
    finished = [facts for facts in trials.values() if facts["state"] == "finished"]
    seeds: dict[tuple[str, str], set[int]] = {}
    for name, member in members:
        seeds.setdefault((name, member.setting), set()).add(member.seed)
    return Summary(
        experiments=len(results.experiments()),
        runs=len(trials),
        finished=len(finished),
        seeds=_range([len(found) for found in seeds.values()]),
        hours=sum(facts["seconds"] or 0 for facts in trials.values()) / 3600,
        machines=sorted({facts["machine"] for facts in finished if facts["machine"]}),
        trained=_range([facts["trained_digits"] for facts in trials.values() if facts["trained_digits"]]),
        tested=max((row["digits"] for run in trials for row in results.exact_match(run)), default=0),
        parameters=_range([facts["parameters"] for facts in trials.values() if facts["parameters"]]),
    )


def _range(numbers: list[int]) -> str:
    """The lowest and the highest.

    >>> _range([5, 5]), _range([100_000, 2_000_000]), _range([])
    ('5', '100,000 to 2,000,000', 'none')
    """
    if not numbers:
        return "none"
    return " to ".join(f"{number:,}" for number in dict.fromkeys((min(numbers), max(numbers))))
