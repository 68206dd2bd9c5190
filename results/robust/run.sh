#!/bin/sh
# Train and test coupling-relative-robust on some seeds, one after the other, on one core:
#
#     sh results/robust/run.sh 21 22 23
#
# What is done already is not done again: stop it at any time and start it again.
set -e
for seed in "$@"; do
    run=$(lengthlab train coupling-relative-robust seed="$seed" --threads 1 --json |
        python -c 'import json, sys; print(json.load(sys.stdin)["run"])')
    lengthlab evaluate "$run" --digits 300,1000 --examples 200 --json >/dev/null
    for operands in equal sparse; do # symmetric sums
        lengthlab evaluate "$run" evaluation.operands=$operands --digits 10,20,50,100 --examples 500 --json >/dev/null
        lengthlab evaluate "$run" evaluation.operands=$operands --digits 300,1000 --examples 20 --json >/dev/null
    done
    lengthlab evaluate "$run" --chain 100000 --digits 10,20,50,100 --examples 500 --json >/dev/null # through all places
    lengthlab evaluate "$run" --chain 100000 --digits 300,1000 --examples 20 --json >/dev/null
    lengthlab evaluate "$run" --digits 3000 --examples 2 --json >/dev/null
done
python results/robust/collect.py
