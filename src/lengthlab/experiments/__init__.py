"""Every experiment of the paper as a short YAML file, at three scales.

    NAME.yaml -> settings x seeds -> configs (each trained once, whoever asks) -> runs -> result tables

`scales.py` says what a scale is, `load.py` reads an experiment, `trials.py` lists its configs, `collect.py` makes the
tables of finished runs, `cost.py` estimates the time.
"""
