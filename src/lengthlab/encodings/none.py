"""No encoding (NoPE, Kazemnejad et al. 2023, arXiv:2305.19466): order is known from the causal mask alone."""

from lengthlab.config.sections import EncodingOptions
from lengthlab.encodings.encoding import Encoding, Shape


class NoEncoding(Encoding):
    """Leaves all hooks as they are."""

    def __init__(self, options: EncodingOptions, shape: Shape) -> None:
        super().__init__()
