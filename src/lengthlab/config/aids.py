"""The aid ledger: what a model is given beyond the text of its problems and their answers.

A score beyond the training length means little without it: a model whose ids say which digits belong together does
less by itself than one that has to find out. All of it follows from the config.

    ids       does code that understands the problem choose the position ids?
    symbols   are tokens or table rows set aside for lengths that training never reaches?
    logits    is attention changed between training and test?
    text      is the problem written so that it is easier?
    outside   does anything but the model's own greedy decoding work on the answer?
"""

from dataclasses import dataclass

from lengthlab.config.schema import Config, Pair
from lengthlab.positions import POSITIONS

QUESTIONS = ("ids", "symbols", "logits", "text", "outside")
NOTHING_OUTSIDE = "no tool and no loop outside the model: greedy decoding"  # of every model that lengthlab trains


@dataclass(frozen=True)
class Aid:
    """One thing that a model is given."""

    question: str  # one of QUESTIONS
    sentence: str


def aids(config: Config) -> list[Aid]:
    """All that the model of a config is given, in the order of the questions; the last says what it is not given."""
    found = [aid for pair in config.pairs for aid in _of_pair(pair)]
    found += [*_of_text(config), *_of_logits(config), Aid("outside", NOTHING_OUTSIDE)]
    once = list(dict.fromkeys(found))
    return sorted(once, key=lambda aid: QUESTIONS.index(aid.question))


def aid_sentences(config: Config) -> list[str]:
    """The ledger as short sentences."""
    return [aid.sentence for aid in aids(config)]


def is_unaided(config: Config) -> bool:
    """Whether the text alone tells the model about its problems: no ids, symbols or logits were chosen for them.

    Of the text only the order of the digits and zeros in front may be chosen.
    """
    return config.format.kind == "equation" and all(aid.question in ("text", "outside") for aid in aids(config))


def _of_pair(pair: Pair) -> list[Aid]:
    scheme = POSITIONS[pair.positions.kind].load()
    found = []
    if scheme.from_places:
        found.append(Aid("ids", "position ids tell each digit's place"))
    if scheme.beyond_length and getattr(pair.positions, "maximum", 0):
        found.append(Aid("ids", "training meets position ids that only longer problems need"))
    rows = getattr(pair.encoding, "rows", 0)
    if rows:
        found.append(Aid("symbols", f"a table of {rows:,} positions, and no more"))
    return found


def _of_text(config: Config) -> list[Aid]:
    options = config.format.model_dump()
    found = []
    if options.get("hints"):
        found.append(Aid("symbols", f"{options['hints']} index hints mark the places, and no more"))
        if options.get("hint_jumps"):
            found.append(Aid("symbols", "training meets hints together that only longer problems need together"))
    if options.get("order") in ("reversed", "answer-reversed"):
        whole = "numbers" if options["order"] == "reversed" else "answers"
        found.append(Aid("text", f"{whole} are written units first"))
    if options.get("padding") not in (None, "none"):
        found.append(Aid("text", "zeros in front make the numbers equally long"))
    if config.format.kind == "interleaved":
        found.append(Aid("text", "digits of one place stand side by side"))
    if config.format.kind == "scratchpad":
        found.append(Aid("text", "carries are part of the answers trained on"))
    return found


def _of_logits(config: Config) -> list[Aid]:
    model = config.model
    found = []
    if model.logit_factor_at_test is not None and model.logit_factor_at_test != model.logit_factor:
        found.append(Aid("logits", f"attention logits are multiplied by {model.logit_factor_at_test:g} at test"))
    if model.log_scaling != "none":
        found.append(Aid("logits", "attention logits grow with the logarithm of the number of keys"))
    return found
