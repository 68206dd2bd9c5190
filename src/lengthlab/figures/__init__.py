"""Figures: one function each, drawn from result tables only.

An experiment's YAML names its figure; a new one is a function of (settings, path, title) and a line here.
"""

from lengthlab.config.registry import Registry

FIGURES = Registry("figure", __name__, default="exact_match_over_seeds")
FIGURES.add("exact_match_over_seeds", "exact_match:exact_match_over_seeds", "all medians, and a panel per setting")
FIGURES.add("best_of_seeds", "exact_match:best_of_seeds", "one panel: the best seed and the median of each setting")
FIGURES.add("settings_grid", "exact_match:settings_grid", "a panel per encoding with its variants, all seeds")
FIGURES.add("box_over_settings", "seeds:box_over_settings", "box plots over seeds at a few lengths beyond training")
FIGURES.add("order_grid", "seeds:order_grid", "data orders within initial weights")
FIGURES.add("factor_by_training_length", "seeds:factor_by_training_length", "the factor reached by training length")
FIGURES.add(
    "best_by_training_length", "training_length:best_by_training_length", "best seed and median by training length"
)
FIGURES.add(
    "boxes_by_training_length", "training_length:boxes_by_training_length", "box plots at the longest tested length"
)
FIGURES.add("evolution", "progress:evolution", "exact match through training at several lengths")
FIGURES.add("loss_curves", "progress:loss_curves", "training loss and next-token accuracy by step")
FIGURES.add("error_panels", "errors:error_panels", "what is wrong in wrong answers, five views")
FIGURES.add("kinds_of_sums", "sums:kinds_of_sums", "exact match on uniform, carry-heavy and symmetric sums")
FIGURES.add("far_beyond", "far:far_beyond", "all seeds on logarithmic lengths, a panel for each kind of sums")
FIGURES.add("error_histograms", "histograms:error_histograms", "wrong digits of every run by place and number")

WITH_AIDS = ("best_of_seeds",)  # of systems: what each is given stands under them
