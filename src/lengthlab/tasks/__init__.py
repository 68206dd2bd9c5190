"""Tasks draw problems: operands and their answer, as digits. They know nothing of text."""

from lengthlab.registry import Registry

TASKS = Registry("task", __name__)
TASKS.add("addition", "addition:Addition", "sum of two numbers with the same number of digits")
