"""Where a model looks when it is wrong: the share of digits for which a head of the last layer looks too far away.

    python results/ablations/looks.py RUN... [DIGITS]     # 200 sums of 50 digits if not given

"Too far" is an operand's digit more places away than the longest training sum has: its hint and the right one have
never been in one training problem, unless hints jumped. A head looks there if it gives it more than a tenth.
"""

import sys

import numpy as np

from lengthlab.analysis.attention import attention_weights
from lengthlab.evaluation.load import load_model
from lengthlab.formats.layout import DIGIT
from lengthlab.runs.run import Run

EXAMPLES, MUCH = 200, 0.1


def main(name: str, digits: int) -> None:
    run = Run.find(name)
    model, pipeline = load_model(run)
    found: dict[bool, list[bool]] = {True: [], False: []}
    for problems, batch in pipeline.test_batches(digits, EXAMPLES):
        logits, weights, _ = attention_weights(model, batch, batch.inputs)
        last = weights[-1].numpy()  # (B, H, Q, K)
        rows, keys, operands = len(last), last.shape[-1], len(problems.operands)
        layout = (batch.layout.role, batch.layout.place, batch.layout.segment)
        role, place, segment = (np.broadcast_to(values, (rows, batch.layout.columns)) for values in layout)
        row, query = np.nonzero(((role == DIGIT) & (segment == operands))[:, batch.answer :])
        away = np.abs(place[row][:, :keys] - place[row, batch.answer + query][:, None])
        far = ((role == DIGIT) & (segment < operands))[row][:, :keys] & (away > run.config.training.digits)
        looks = np.einsum("nhk,nk->nh", last[row, :, query], far).max(axis=1) > MUCH
        right = (logits.argmax(-1) == batch.targets).numpy()[row, query]
        for outcome, looked in found.items():
            looked += looks[right == outcome].tolist()
    for outcome, looked in found.items():
        share = f"{sum(looked) / len(looked):.1%} look too far" if looked else "none"
        print(f"{run.id}, {digits} digits: {len(looked):,} {'right' if outcome else 'wrong'} digits, {share}")


if __name__ == "__main__":
    *runs, last = sys.argv[1:] or [""]
    given = last.isdecimal() and len(last) < 5  # a length; ids of runs have ten characters
    for name in runs if given else [*runs, last]:
        main(name, int(last) if given else 50)
