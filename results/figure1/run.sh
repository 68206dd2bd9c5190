#!/bin/sh
# Figure 1 on a laptop: every system on some seeds, one run after the other, on one core:
#
#     sh results/figure1/run.sh 11 12 13
#
# What is done already is not done again: stop it at any time and start it again. A run takes up to half an hour.
set -e
for seed in "$@"; do
    for system in zhou2024 zhou2023 shen2023 kazemnejad2023 lee2023 abacus coupling; do
        lengthlab train "$system-laptop" seed="$seed" --threads 1 --json >/dev/null
    done
done
python results/figure1/collect.py "$@"
