"""A sweep as a command, for tests to kill: driver.py '{"trials": {"label": ["override", ...]}, "engine": "ray", ...}'.

Each trial is the smoke recipe with overrides; the outcomes are printed as JSON.
"""

import json
import signal
import sys
from pathlib import Path

from lengthlab.cli.console import Screen
from lengthlab.cli.progress import make_view
from lengthlab.config.load import load_config
from lengthlab.errors import RunFailed, UserError
from lengthlab.sweep.run import run_trials
from lengthlab.sweep.trial import SweepOptions, Trial

SMOKE = str(Path(__file__).parents[1] / "smoke.yaml")


def main(text: str) -> int:
    options = json.loads(text)
    trials = [Trial(label, load_config(SMOKE, overrides)) for label, overrides in options.pop("trials").items()]
    try:
        outcomes = run_trials(trials, SweepOptions(**options), make_view(Screen(stderr=True)))
    except KeyboardInterrupt as stop:
        print(stop, file=sys.stderr)
        return 130
    except (UserError, RunFailed) as error:
        print(f"lengthlab: {error}", file=sys.stderr)
        return 2
    print(json.dumps({one.trial.label: [one.state, one.error, one.attempts] for one in outcomes}))
    return int(any(one.state != "finished" for one in outcomes))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if the tests themselves run in the background
    sys.exit(main(sys.argv[1]))
