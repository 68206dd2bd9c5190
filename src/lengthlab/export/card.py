"""The model card: Markdown for people, with a head that model hubs read (`model-index`)."""

import yaml

from lengthlab.export.facts import Facts

TAGS = ["arithmetic", "length-generalization", "lengthlab"]


def model_card(facts: Facts, files: str = "") -> str:
    """The card of a model; `files` says what else is in its folder."""
    head = yaml.safe_dump(_head(facts), sort_keys=False, allow_unicode=True)
    parts = [f"---\n{head}---\n", f"# {facts.name}\n", _summary(facts), files, _scores(facts), _chosen(facts)]
    told = "\n".join(f"- {sentence}" for sentence in facts.told)
    parts += [f"## What the model is told by code\n\n{told}\n", _limits(facts)]
    return "\n".join(part for part in parts if part)


def _head(facts: Facts) -> dict[str, object]:
    metrics = [
        {
            "type": "exact_match",
            "name": f"exact match, {score.digits} digit{'s' * (score.digits > 1)}",
            "value": round(score.exact_match, 4),
        }
        for score in facts.scores
    ]
    dataset = {"type": "synthetic", "name": f"lengthlab's test problems of {facts.task}"}
    result = {"task": {"type": "other", "name": facts.task}, "dataset": dataset, "metrics": metrics}
    return {
        "license": "mit",
        "library_name": "lengthlab",
        "tags": TAGS,
        "model-index": [{"name": facts.name, "results": [result]}],
    }


def _summary(facts: Facts) -> str:
    return (
        f"A small Transformer ({facts.parameters:,} parameters), trained for {facts.steps:,} steps on {facts.task} "
        f"of 1 to {facts.trained_digits} digits. Recipe: {facts.recipe}; seed {facts.seed}; run {facts.run}.\n"
    )


def _scores(facts: Facts) -> str:
    if not facts.scores:
        return "## Exact match by length\n\nIt has not been tested.\n"
    rows = "\n".join(
        f"| {score.digits}{'' if score.digits <= facts.trained_digits else ' *'} | {score.exact_match:.1%} | "
        f"{score.low:.1%} to {score.high:.1%} | {score.examples:,} |"
        for score in facts.scores
    )
    return (
        "## Exact match by length\n\n"
        "Share of problems of which every token of the answer is right, the end included. "
        "Lengths marked * are longer than any in training.\n\n"
        f"| digits | exact match | 95% interval | problems |\n|--:|--:|--:|--:|\n{rows}\n"
    )


def _chosen(facts: Facts) -> str:
    lengths = sorted({length for run in facts.tried for length in run.at})
    header = "".join(f" {length} digits |" for length in lengths)
    rows = "\n".join(
        f"| {run.seed}{' (this one)' if run.run == facts.run else ''} | {run.run} | {run.state} |"
        + "".join(f" {run.at[length]:.1%} |" if length in run.at else " |" for length in lengths)
        for run in facts.tried
    )
    return (
        f"## How this one was chosen\n\n{facts.chosen}\n\nAll runs of this setting in the folder it was taken from:\n\n"
        f"| seed | run | state |{header}\n|--:|---|---|{'--:|' * len(lengths)}\n{rows}\n"
    )


def _limits(facts: Facts) -> str:
    return (
        f"## Limits\n\nIt does {facts.task} and nothing else. The table is for problems drawn at random; sums in "
        "which a carry runs through many places are rare among them and may be harder, and so may be a short number "
        "beside a long one where training had numbers of equal length only. What it writes is cut where "
        "the right answer ends; if it has not ended by then, that is wrong. Nothing is known of lengths beyond "
        f"{facts.longest_tested:,} digits.\n"
    )
