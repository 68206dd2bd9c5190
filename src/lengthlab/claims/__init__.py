"""The paper's claims as data, with a verdict computed from result tables.

    claims.yaml -> claim (a comparison of settings, a measure, a threshold) x results -> verdict

`measures.py` turns a run into one number, `comparisons.py` has the kinds of comparison, `load.py` reads the claims.
"""
