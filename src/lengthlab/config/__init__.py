"""What a run is made of: one schema for recipes, `key=value` overrides and saved runs.

    recipe and overrides -> load.py -> schema.py: Config -> checks.py

sections.py    strict sections of a config         registry.py    variants by name
fields.py      what a setting may hold             axes.py        every registry that a config chooses from
schema.py      Config, the whole tree              plugins.py     variants from outside the package
model.py       its section `model`, named sizes    contracts/     what every variant must keep
training.py    its section `training`              catalogue.py   everything that can be chosen
presets.py     recipes/*.yaml and YAML files       names.py       every option, and where it is by its name alone
load.py        recipe + overrides -> Config        lengths.py     ranges such as 1-20
checks.py      what must hold between sections     yaml_text.py   YAML with limits, the only reader
aids.py        what a model is given beyond its problems
"""
