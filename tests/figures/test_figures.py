"""Every figure: three formats, the same bytes each time, labels that say what is drawn, and no crash on odd tables."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lengthlab.figures import FIGURES, style
from lengthlab.figures.data import Seed, Setting, best_seed, median_points
from lengthlab.figures.exact_match import best_of_seeds, exact_match_over_seeds, settings_grid
from lengthlab.figures.message import losses, orders, variants
from lengthlab.figures.progress import smooth
from lengthlab.figures.style import only

Figure = Callable[..., list[Path]]
WORDS: dict[str, tuple[str, ...]] = {  # what each must say
    "exact_match_over_seeds": ("NoPE (n = 5 seeds)", "median", "best seed", "trained on 1-10 digits", "exact match"),
    "best_of_seeds": ("best seed (n = 5 seeds)", "median over seeds", "FIRE", "digits of each operand"),
    "settings_grid": ("FIRE (n = 5 seeds)", "one seed", "best seed", "trained on 1-10 digits"),
    "box_over_settings": (
        "15 digits: 1.5 times the training length",
        "25 digits: 2.5 times",
        "n = 5",
        "one seed",
        "median",
    ),
    "evolution": ("10 digits", "20 digits", "training step", "(n = 5 seeds)", "median"),
    "loss_curves": ("FIRE: loss (n = 5 seeds)", "next-token accuracy", "one seed (running mean of 5 points)"),
    "order_grid": ("data order 1", "(n = 5 orders)", "median over orders", "(where runs differ most)"),
    "factor_by_training_length": ("digits trained on", "best seed", "longest test", "FIRE (n = 5 seeds)"),
    "best_by_training_length": ("trained on 1-10", "best seed", "median", "training ends", "FIRE (n = 5 seeds)"),
    "boxes_by_training_length": ("exact match at 25 digits", "one seed", "digits trained on", "FIRE (n = 5 seeds)"),
    "kinds_of_sums": ("a carry through all places, median", "FIRE (n = 5 seeds)", "trained on 1-10 digits"),
    "far_beyond": ("uniform sums", "NoPE (n = 5 seeds)", "stretched near 100%", "trained on 1-10 digits"),
    "error_histograms": ("FIRE, 15 digits: wrong digits by place", "seed 5", "wrong digits (10: or more)"),
    "error_panels": ("a carry comes in", "wrong digits in an answer", "exponential fit", "200 wrong answers)"),
}
each_figure = pytest.mark.parametrize("name", FIGURES.names())


def words(svg: Path) -> str:
    """The text of a drawing, whose letters are outlines with the words beside them as comments."""
    return "\n".join(re.findall(r"<!-- (.*?) -->", svg.read_text(), flags=re.DOTALL))


@each_figure
def test_three_formats_alike_and_labelled(
    name: str, encodings: list[Setting], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few dots and whole fonts, which take least time; the test below has all dots and the letters it needs."""
    for setting, quick in {"savefig.dpi": 50, "pdf.fonttype": 3}.items():
        monkeypatch.setitem(style._SETTINGS, setting, quick)
    figure: Figure = FIGURES[name].load()
    files = figure(encodings, tmp_path / "a", "My title")
    assert [file.name for file in files] == ["a.png", "a.svg", "a.pdf"]
    with only("svg"):
        (again,) = figure(encodings, tmp_path / "b", "My title")
    assert files[1].read_bytes() == again.read_bytes()
    assert files[0].read_bytes()[:4] == b"\x89PNG" and files[2].read_bytes()[:4] == b"%PDF"
    said = words(files[1])
    for label in ("My title", *WORDS[name]):
        assert label in said


@each_figure
def test_odd_tables_are_drawn(name: str, setting: Callable[..., Setting], tmp_path: Path) -> None:
    figure: Figure = FIGURES[name].load()
    one_seed = setting("one seed", seeds=1, panel="one seed")
    rows = [{"digits": digits, "exact_match": 0.0} for digits in range(1, 21)]
    learned = setting("zero", panel="zero")
    zero = replace(learned, seeds=[replace(seed, exact_match=rows) for seed in learned.seeds])
    missing = Setting("missing", 10, [], "missing")
    untested = Setting("untested", 10, [Seed(1)], "untested")
    hostile = setting("<b>&$\\frac{1}$ -- _^ 100%", panel="$x^{")
    with only("svg"):
        for settings in ([], [missing, untested], [one_seed], [zero, missing, untested, hostile]):
            (file,) = figure(settings, tmp_path / "odd", "")
            assert file.stat().st_size > 1000
            if not any(seed.exact_match for setting in settings for seed in setting.seeds):
                assert "yet" in words(file)


def test_all_formats_are_the_same_bytes_each_time(encodings: list[Setting], tmp_path: Path) -> None:
    files, again = (best_of_seeds(encodings, tmp_path / name) for name in ("a", "b"))
    assert [file.read_bytes() for file in files] == [file.read_bytes() for file in again]
    assert b"CreationDate" not in files[2].read_bytes() and "<dc:date>" not in files[1].read_text()


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("boxes_by_training_length", "at 25 digits, 2.5 times the training length"),
        ("error_histograms", "a single wrong digit at 15 digits, median: FIRE"),
        ("kinds_of_sums", "Medians at 15 digits"),
    ],
)
def test_without_a_title_a_figure_says_what_it_shows(
    name: str, title: str, encodings: list[Setting], tmp_path: Path
) -> None:
    with only("svg"):
        (file,) = FIGURES[name].load()(encodings, tmp_path / "a")
    assert title in words(file).replace("\n", " ")


def test_only_one_format_if_asked_for(encodings: list[Setting], tmp_path: Path) -> None:
    with only("svg"):
        assert [file.suffix for file in best_of_seeds(encodings, tmp_path / "a")] == [".svg"]


def test_variants_share_a_panel_and_are_told_apart(with_and_without: list[Setting], tmp_path: Path) -> None:
    with only("svg"):
        (file,) = settings_grid(with_and_without, tmp_path / "a")
    said = words(file)
    assert said.count("FIRE (n = 5 seeds)") == 1
    assert "with index hints, median" in said and "without, median" in said


def test_the_title_compares_variants_where_all_have_run() -> None:
    settings = [
        Setting(f"{panel}, {variant}", 10, [Seed(1, [{"digits": n, "exact_match": score} for n in (10, 15, 20)])])
        for panel, variant, score in (("copy", "plain", 0.9), ("copy", "new", 1.0), ("sort", "new", 0.0))
    ]
    assert variants(settings).endswith(" (copy): plain 90%; new 100%")
    assert variants(settings[:1] + settings[2:]).endswith(": plain 90%; new 0%")  # nowhere both


def test_a_loss_is_compared_where_all_variants_have_run() -> None:
    settings = [
        Setting(f"{panel}, {variant}", 10, [Seed(1, training=[{"step": 1, "loss": loss}])])
        for panel, variant, loss in (("copy", "plain", 0.5), ("copy", "new", 0.25), ("sort", "new", 9.0))
    ]
    assert losses(settings) == "Loss at the end of training, median over all seeds (copy): plain 0.5, new 0.25"


def test_orders_are_set_beside_weights() -> None:
    settings = [Setting(f"init {at}", 1, [scored(1, at), scored(1, at + 0.1)]) for at in (0.0, 0.5)]
    assert orders(settings, 2) == "At 2 digits data orders are 10 points apart, the medians of initial weights 50"
    assert orders(settings[:1], 2) == "At 2 digits data orders are 10 points apart"


def test_a_variant_trained_on_shorter_sums_is_marked(setting: Callable[..., Setting], tmp_path: Path) -> None:
    settings = [
        setting("FIRE, long", panel="FIRE", variant="long"),
        setting("FIRE, short", trained=4, panel="FIRE", variant="short"),
    ]
    with only("svg"):
        (file,) = settings_grid(settings, tmp_path / "a")
    assert "short (1-4), median" in words(file) and "long, median" in words(file)


def test_seeds_that_are_missing_in_one_setting_are_counted(setting: Callable[..., Setting], tmp_path: Path) -> None:
    with only("svg"):
        (file,) = exact_match_over_seeds([setting("a", seeds=3), setting("b", seeds=1)], tmp_path / "a")
        assert "a (n = 3 seeds)" in words(file) and "b (n = 1 seed)" in words(file)
        (file,) = best_of_seeds([setting("a", seeds=3), setting("b", seeds=1)], tmp_path / "b")
        assert "best seed (n = 1-3 seeds)" in words(file)


def scored(*scores: float, seed: int = 1) -> Seed:
    return Seed(seed, [{"digits": digits, "exact_match": score} for digits, score in enumerate(scores, start=1)])


def test_the_best_seed_is_the_best_beyond_training() -> None:
    setting = Setting("a", 2, [scored(1, 1, 0.2, 0.2), scored(0.5, 0.5, 0.3, 0.3, seed=2)])
    assert best_seed(setting) == setting.seeds[1]
    assert best_seed(replace(setting, seeds=[Seed(1)])) is None


def test_the_median_is_over_the_seeds_there_are() -> None:
    assert median_points([[(1, 0.0), (2, 0.2)], [(1, 1.0)], [(1, 0.4)]]) == [(1, 0.4), (2, 0.2)]
    assert median_points([]) == []


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    curve = smooth([(step, float(step)) for step in range(1, 5001)], 1)
    assert len(curve) < 200 and curve[0] == (1, 1.0) and curve[-1] == (5000, 5000.0)


def test_the_axis_of_lengths_has_its_words_from_one_place() -> None:
    folder = Path(style.__file__).parent
    assert [file.name for file in folder.glob("*.py") if style.DIGITS in file.read_text()] == ["style.py"]
