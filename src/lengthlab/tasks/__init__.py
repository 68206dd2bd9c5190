"""Tasks draw problems: operands and their answer, as digits. They know nothing of text."""

from typing import TYPE_CHECKING, Any

from lengthlab.config.registry import Registry

TASKS = Registry("task", __name__, default="addition")
TASKS.add("addition", "addition:Addition", "sum of two or more numbers, of equal or independent lengths")
TASKS.add("subtraction", "subtraction:Subtraction", "difference of two numbers, the larger first")
TASKS.add("multiplication", "multiplication:Multiplication", "product of two numbers, the second with its own length")
TASKS.add("copy", "sequences:Copy", "the same digits again")
TASKS.add("reverse", "sequences:Reverse", "the digits from the other end")
TASKS.add("sort", "sequences:Sort", "the digits in ascending order")
TASKS.add("parity", "sequences:Parity", "whether the number of ones among bits is odd")
__getattr__, __dir__ = TASKS.class_named, TASKS.attributes  # classes are imported when they are asked for

if TYPE_CHECKING:  # table: tasks
    from lengthlab.tasks.addition import Addition as Addition
    from lengthlab.tasks.multiplication import Multiplication as Multiplication
    from lengthlab.tasks.sequences import Copy as Copy
    from lengthlab.tasks.sequences import Parity as Parity
    from lengthlab.tasks.sequences import Reverse as Reverse
    from lengthlab.tasks.sequences import Sort as Sort
    from lengthlab.tasks.subtraction import Subtraction as Subtraction
# end


def adds_two_numbers(task: dict[str, Any]) -> bool:
    """Whether a config's `task` is the sum of two numbers, which models can be asked for and the board is about."""
    return task.get("kind") == "addition" and task.get("operands", 2) == 2
