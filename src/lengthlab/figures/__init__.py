"""Figures: one function each, drawn from result tables only.

An experiment's YAML names its figure; a new one is a function of (settings, path, title) and a line here.
"""

from lengthlab.config.registry import Registry

FIGURES = Registry("figure", __name__, default="exact_match_over_seeds")
FIGURES.add(
    "exact_match_over_seeds",
    "exact_match:exact_match_over_seeds",
    "the medians of all settings, and a panel for each with every seed",
)
FIGURES.add("best_of_seeds", "exact_match:best_of_seeds", "the best seed and the median of each setting, in one panel")
FIGURES.add("settings_grid", "exact_match:settings_grid", "a panel for each encoding with its variants, every seed")
FIGURES.add("box_over_settings", "seeds:box_over_settings", "box plots over seeds at a few lengths beyond training")
FIGURES.add("order_grid", "seeds:order_grid", "every data order, grouped by initial weights")
FIGURES.add(
    "factor_by_training_length",
    "seeds:factor_by_training_length",
    "how many times its training length each seed reaches",
)
FIGURES.add(
    "best_by_training_length",
    "training_length:best_by_training_length",
    "exact match of the best seed and the median, by training length",
)
FIGURES.add(
    "boxes_by_training_length",
    "training_length:boxes_by_training_length",
    "box plots at the longest tested length, by training length",
)
FIGURES.add("evolution", "progress:evolution", "exact match during training at several lengths")
FIGURES.add("loss_curves", "progress:loss_curves", "training loss and next-token accuracy by step")
FIGURES.add(
    "error_panels", "errors:error_panels", "wrong answers by carry, place, number of wrong digits, shift and kind"
)
FIGURES.add(
    "kinds_of_sums", "sums:kinds_of_sums", "exact match on uniform sums, long carries, and a number plus itself"
)
FIGURES.add(
    "far_beyond", "far:far_beyond", "every seed on a logarithmic axis of lengths, a panel for each kind of sums"
)
FIGURES.add("error_histograms", "histograms:error_histograms", "wrong digits of every run, by place and by number")

WITH_AIDS = ("best_of_seeds",)  # of systems: what each is given stands under them
