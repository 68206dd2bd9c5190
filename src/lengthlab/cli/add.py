"""`lengthlab add`: ask a model for a sum. A shipped one if none is named, so it works before any training."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen, print_json
from lengthlab.cli.parameters import Json
from lengthlab.errors import UserError

if TYPE_CHECKING:  # brings torch
    from lengthlab.shipped.adder import Adder, Answer


def add(
    *words: Annotated[
        str,
        Parameter(help="Two numbers, after a model if you like: robust, paper or fragile, or a run's folder or id."),
    ],
    as_json: Json = False,
) -> None:
    """Ask a model for a sum; without numbers, keep asking until an empty line."""
    if len(words) > 3:
        raise UserError(f"add: give two numbers, after a model if you like; these are {len(words)} words")
    if as_json and len(words) < 2:
        raise UserError("add: --json needs two numbers")
    if len(words) == 2:
        _check(words)
    named = words[:1] if len(words) in (1, 3) else ()

    from lengthlab.shipped.adder import find_adder

    adder = find_adder(*named)
    if len(words) < 2:
        _converse(adder)
        return
    a, b = words[-2:]
    answer = adder.ask(a, b)
    if as_json:
        print_json(asdict(answer))
        return
    console = Screen()
    for line in (f"prompt  {answer.prompt}", f"answer  {answer.produced}", *_sentences(a, b, answer)):
        console.put(line)


def _check(words: tuple[str, ...]) -> None:
    """With two words, the likeliest mistake is a model and only one number."""
    if not words[0].isdigit() and words[1].isdigit():
        raise UserError(f"add: {words[0]!r} is not a number; with a model, name two numbers after it")


def _sentences(a: str, b: str, answer: "Answer") -> list[str]:
    said = f"{a} + {b} = {answer.answer}" if answer.answer is not None else f"{a} + {b}: the answer cannot be read"
    return [said, "correct" if answer.correct else f"wrong: the sum is {answer.truth}"]


def _converse(adder: "Adder") -> None:
    """Ask, answer and ask again, until an empty line or the end of the input."""
    shown, console = sys.stdin.isatty(), Screen()
    if shown:
        reach = f"it reads numbers of up to {adder.longest:,} digits"
        console.say(f"{adder.name}: trained on up to {adder.pipeline.config.training.digits} digits; {reach}.")
        console.say("Type two numbers, such as 31415926 27182818; an empty line ends.")
    while True:
        try:
            line = input("sum? " if shown else "")
        except EOFError:
            return
        numbers = line.replace("+", " ").split()
        if not numbers:
            return
        try:
            if len(numbers) != 2:
                raise UserError(f"give two numbers; these are {len(numbers)}")
            a, b = numbers
            console.put("; ".join(_sentences(a, b, adder.ask(a, b))))
        except UserError as error:
            console.put(str(error))
