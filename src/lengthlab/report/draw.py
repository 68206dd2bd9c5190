"""An experiment's figure: drawn from its result tables, embedded in the page, and described in words."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from lengthlab.config.aids import aid_sentences
from lengthlab.config.schema import Config
from lengthlab.figures import FIGURES, WITH_AIDS
from lengthlab.figures.data import Seed, Setting, count, longest_trained, pooled, scores_at
from lengthlab.paper.experiment import Experiment, experiment_names, load_experiment, trials
from lengthlab.paper.scales import SCALE_NAMES
from lengthlab.paper.tables import Results
from lengthlab.statistics.lengths import lengths_beyond


def draw(experiment: Experiment, results: Results, folder: Path) -> list[Path]:
    """Draw an experiment's figure as folder/NAME.png, .svg and .pdf, and its further ones as folder/NAME-FIGURE.*."""
    files = draw_named(experiment.name, experiment.figure, results, folder)
    for figure in experiment.also:
        files += draw_named(experiment.name, figure, results, folder, f"-{figure.replace('_', '-')}")
    return files


def draw_named(name: str, figure: str, results: Results, folder: Path, suffix: str = "") -> list[Path]:
    """One figure by the names of an experiment and of the figure."""
    settings = settings_of(name, results)
    if figure in WITH_AIDS and name in experiment_names():
        given = aids_of(name, results)
        settings = [replace(setting, aids=given.get(setting.label, ())) for setting in settings]
    return FIGURES[figure].load()(settings, folder / f"{anchor(name)}{suffix}", "")


def aids_of(name: str, results: Results) -> dict[str, list[str]]:
    """What each setting of an experiment is given, as far as its runs are those that the experiment plans."""
    members = results.members(name)
    seeds = sorted({member.seed for member in members})
    planned = [one for scale in SCALE_NAMES for one in trials(load_experiment(name), scale, seeds)]
    configs = {one.config.id: one.config for one in planned}
    return {member.setting: _given(configs[member.run]) for member in members if member.run in configs}


def _given(config: Config) -> list[str]:
    """The aids of a system, and the encodings that it has beside the one in its name."""
    beside = [f"a second encoding, {pair.encoding.kind} on {pair.positions.kind} ids" for pair in config.pairs[1:]]
    return [*beside, *aid_sentences(config)]


def anchor(name: str) -> str:
    """A name as part of an address or a file's name; those of the paper's experiments stay as they are.

    >>> anchor("index-hints"), anchor("../my own: 1")
    ('index-hints', 'my-own-1')
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "experiment"


def settings_of(name: str, results: Results) -> list[Setting]:
    """The settings of an experiment with their finished seeds, in declared order."""
    members = results.members(name)
    settings = []
    for label in results.settings(name):
        seeds, trained = [], 1
        for member in members:
            if member.setting != label:
                continue
            facts = results.trial(member.run)
            trained = facts["trained_digits"] or trained
            if facts["state"] == "finished":
                seeds.append(
                    Seed(
                        member.seed,
                        results.exact_match(member.run),
                        results.training(member.run),
                        results.evolution(member.run),
                        results.errors(member.run),
                        facts,
                    )
                )
        settings.append(Setting(label, trained, seeds))
    return settings


@dataclass(frozen=True)
class Picture:
    """An image as a data URI, with its size in CSS pixels so that the page does not jump while it loads."""

    uri: str
    width: int
    height: int


def picture(svg: Path) -> Picture:
    """A drawing for an img element: its ids are its own, its letters are outlines, nothing is fetched."""
    text = compact(svg.read_text(encoding="utf-8"))
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    width, height = (round(float(points) * 4 / 3) for points in size.groups()) if size else (720, 480)
    return Picture("data:image/svg+xml;base64," + base64.b64encode(text.encode()).decode(), width, height)


def compact(svg: str) -> str:
    """The same drawing in fewer bytes: no comments, no metadata, coordinates to a hundredth of a point.

    >>> compact('<svg><!-- axis --><path d="M 1.23456 2 L 10.00001 3.5"/></svg>')
    '<svg><path d="M 1.23 2 L 10 3.5"/></svg>'
    """
    svg = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r' (?:d|x|y)="[^"]*"', lambda match: re.sub(r"-?\d+\.\d+", _rounded, match[0]), svg)
    return re.sub(r"\n\s*", "\n", svg)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def alternative(sentence: str, settings: Sequence[Setting]) -> str:
    """Text in place of a figure: what it is, and the median and the best seed of each setting beyond training."""
    return " ".join([sentence.rstrip(". ") + ".", *findings(settings)])


def findings(settings: Sequence[Setting]) -> list[str]:
    """One sentence for each setting that has been tested, at the length nearest to 1.5 times that of training."""
    tested = [setting for setting in settings if any(seed.exact_match for seed in setting.seeds)]
    if not tested:
        return ["No finished runs yet."]
    length = lengths_beyond(pooled(tested), longest_trained(tested), (1.5,))[0]
    sentences = []
    for setting in tested:
        if scores := scores_at(setting, length):
            sentences.append(
                f"{setting.label}: median {median(scores):.0%}, best {max(scores):.0%} at {length} digits"
                f" (trained on 1-{setting.trained}, {count(len(scores))})."
            )
    return sentences
