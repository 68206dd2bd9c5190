"""Which of the examples packed into a row each token belongs to."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Documents:
    """(R, T) each."""

    number: Tensor  # of the example; -1 where the row is filled up
    index: Tensor  # of the token within its example
    question: Tensor  # whether it belongs to the example's question
