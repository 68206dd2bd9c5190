"""The paper: its experiments as short YAML files at several scales, its claims as data, and the tables between them.

experiments/NAME.yaml -> settings x seeds -> configs (each trained once) -> runs -> result tables -> verdicts
"""
