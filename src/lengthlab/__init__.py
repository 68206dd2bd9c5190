"""lengthlab: a laboratory for length generalization.

The data flows one way, and the folders follow it:

    tasks -> formats -> positions -> batches -> model (encodings) -> training -> evaluation -> figures

Nothing here imports torch, so that `lengthlab --help` answers at once.
"""

__version__ = "0.1.0"
