"""LengthBoard: records of length generalization, each a recipe file and a row that anyone can check.

recipe, seeds -> runs -> tests up the ladder of lengths -> row -> standings by track

results/board/NAME.yaml   the recipe, whole: lengthlab train results/board/NAME.yaml seed=1
results/board/NAME.json   the row: every seed with its scores and its cost, and a checksum over all of it
"""
