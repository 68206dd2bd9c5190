"""Tasks draw problems: operands and their answer, as digits. They know nothing of text."""

from typing import Any

from lengthlab.config.registry import Registry

TASKS = Registry("task", __name__, default="addition")
TASKS.add("addition", "addition:Addition", "sum of two or more numbers, of equal or independent lengths")
TASKS.add("subtraction", "subtraction:Subtraction", "difference of two numbers, the larger first")
TASKS.add("multiplication", "multiplication:Multiplication", "product of two numbers, the second with its own length")
TASKS.add("copy", "sequences:Copy", "the same digits again")
TASKS.add("reverse", "sequences:Reverse", "the digits from the other end")
TASKS.add("sort", "sequences:Sort", "the digits in ascending order")
TASKS.add("parity", "sequences:Parity", "whether the number of ones among bits is odd")
__getattr__ = TASKS.class_named  # every registered class is an attribute of this package, imported when asked for


def adds_two_numbers(task: dict[str, Any]) -> bool:
    """Whether a config's `task` is the sum of two numbers, which models can be asked for and the board is about."""
    return task.get("kind") == "addition" and task.get("operands", 2) == 2
