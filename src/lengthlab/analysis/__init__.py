"""Why answers are wrong.

names      what mistakes are called
verdicts   what a model wrote for test problems: digit by digit, what is wrong and what else would explain it
errors     the shares of each mistake against what chance would give; averages over runs
examples   single wrong answers, with the wrong tokens marked
attention  the attention of every layer and head for one sum, and how sharply digits look at their own place by length
study      all of it about one run, wrong digits by hint symbol included
words      what the numbers say, in plain sentences
page       sentences and small tables for each question, on a screen
"""
