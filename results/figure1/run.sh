#!/bin/sh
# Figure 1 on a laptop: systems on some seeds, one run after the other, on one core:
#
#     sh results/figure1/run.sh 11 12 13                          # all systems
#     SYSTEMS=zhou2024 sh results/figure1/run.sh 14 15 16         # one of them
#
# What is done already is not done again: stop it at any time and start it again. A run takes up to half an hour.
set -e
for seed in "$@"; do
    for system in ${SYSTEMS:-zhou2024 zhou2023 shen2023 kazemnejad2023 lee2023 abacus coupling}; do
        run=$(lengthlab train "$system-laptop" seed="$seed" --threads 1 --json |
            python -c 'import json, sys; print(json.load(sys.stdin)["run"])')
        [ "$system" = zhou2024 ] || continue
        for operands in equal sparse; do # symmetric sums
            lengthlab evaluate "$run" evaluation.operands=$operands --digits 40,60,80,100 --examples 200 --json >/dev/null
        done
        lengthlab evaluate "$run" --chain 100000 --digits 40,60,80,100 --examples 200 --json >/dev/null # through all places
    done
done
