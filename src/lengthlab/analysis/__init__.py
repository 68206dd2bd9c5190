"""Why answers are wrong.

attempts  what a model wrote for test problems, beside what it should have written
verdicts  digit by digit and answer by answer: what is wrong, and what else would explain it
errors    the shares of each mistake against what chance would give; averages over runs
examples  single wrong answers, with the wrong tokens marked
attention the attention of every layer and head for one sum
alignment how sharply each digit of the answer looks at its own place in the operands, by length
lengths   which lengths to look at
"""
