"""Everything that a config chooses by a registered name, listed once.

AXES have a section each, with the options of the chosen variant. CHOICES are settings like any other whose value is
the name of a function.
"""

from lengthlab.config.registry import Registry
from lengthlab.encodings import ENCODINGS
from lengthlab.formats import FORMATS
from lengthlab.optimizers import OPTIMIZERS
from lengthlab.positions import POSITIONS
from lengthlab.tasks import TASKS

AXES = {"encodings": ENCODINGS, "positions": POSITIONS, "formats": FORMATS, "tasks": TASKS, "optimizers": OPTIMIZERS}

ATTENTIONS = Registry("attention", "lengthlab.model", default="softmax")
ATTENTIONS.add("softmax", "attention:softmax", "weights in proportion to the exponential of the logits")
ATTENTIONS.add("stick-breaking", "attention:stick_breaking", "prefers the nearest key that wants it (Tan et al. 2024)")

SCHEDULES = Registry("schedule", "lengthlab.training", default="cosine")
SCHEDULES.add("cosine", "schedule:cosine", "half a cosine down to `final` of the peak rate, as in the paper")
SCHEDULES.add("constant", "schedule:constant", "at the peak to the end")
SCHEDULES.add("stable-decay", "schedule:stable_decay", "at the peak, then down over the last `decay` of the steps")

CHOICES = {"attentions": ATTENTIONS, "schedules": SCHEDULES}
