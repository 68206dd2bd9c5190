#!/bin/sh
# What each ingredient does: the recipe with and without it, on the same seeds, and the difference over the pairs.
#
#     sh results/robust/ablations.sh 101 102 103 104 105
#     COMPARE_ONLY=1 sh results/robust/ablations.sh 101 102 103 104 105    # of the runs that are finished
#
# What is done already is not done again: stop it at any time and start it again. A run takes four minutes of one core.
# The parts of zhou2024-laptop are in results/ablations.
set -e

ids() { # recipe and overrides -> a condition that names the runs of all seeds
    for seed in $SEEDS; do
        lengthlab train "$@" seed="$seed" --threads 1 --json ${COMPARE_ONLY:+--dry-run}
    done | python -c '
import json, os, sys
decoder, text, runs = json.JSONDecoder(), sys.stdin.read().strip(), []
while text:
    found, end = decoder.raw_decode(text)
    runs.append(os.path.basename(found["run"]))
    text = text[end:].strip()
print("id in (" + ", ".join(f"\x27{run}\x27" for run in runs) + ")")'
}

ablate() { # lengths, name of the ingredient, recipe, then the overrides that take it away
    lengths=$1 name=$2 recipe=$3
    shift 3
    with=$(ids "$recipe")
    without=$(ids "$recipe" "$@")
    echo
    echo "## $recipe: $name ($*)"
    for digits in $lengths; do
        lengthlab compare "$with" "$without" --digits "$digits" --paired --names "with,without" || true
    done
}

SEEDS="$*"
[ -n "$SEEDS" ] || { echo "name the seeds, such as: sh results/robust/ablations.sh 101 102 103 104 105" >&2; exit 2; }
ablate "50 100" "random sharpness" coupling-relative-robust training.sharpness.most=1
