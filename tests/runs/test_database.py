"""Conditions and SQL over the tables; mistakes in one sentence; nothing but the tables can be read."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from lengthlab.errors import UserError
from lengthlab.runs.columns import RUNS
from lengthlab.runs.database import Database
from lengthlab.runs.reader import Loaded, read_runs

MakeRun = Callable[..., Path]


@pytest.fixture(scope="module")
def database(make_run_in: MakeRun, tmp_path_factory: pytest.TempPathFactory) -> Database:
    folder = tmp_path_factory.mktemp("runs")
    make_run = partial(make_run_in, folder)
    make_run("aa", {5: 1.0, 20: 0.95}, {"encoding": {"kind": "fire"}, "seeds.weights": 1})
    make_run("bb", {5: 1.0, 20: 0.5}, {"encoding": {"kind": "fire"}, "seeds.weights": 2})
    make_run("cc", {5: 0.75}, {"encoding": {"kind": "rope"}, "model.layers": 3})
    make_run("dd", settings={"encoding": {"kind": "none"}})
    return Database(read_runs(folder))


def ids(database: Database, condition: str = "", order: str = "") -> list[str]:
    return [row["id"] for row in database.select(condition, order=order).dicts()]


def test_conditions(database: Database) -> None:
    assert ids(database) == ["aa", "bb", "cc", "dd"]
    assert ids(database, "encoding = 'fire' and exact_match_20 > 0.9") == ["aa"]
    assert ids(database, "layers = 3 or state = 'stopped'") == ["cc", "dd"]  # nobody trains dd
    assert ids(database, "(config->>'$.model.layers')::int = layers -- any setting") == ids(database)
    assert ids(database, "exact_match_5 is null") == ["dd"]
    assert ids(database, "id in (select id from evaluation where digits = 20 and low > 0.8)") == ["aa"]


def test_sorting_puts_what_is_missing_last(database: Database) -> None:
    assert ids(database, order="exact_match_20") == ["bb", "aa", "cc", "dd"]
    assert ids(database, order="-exact_match_20") == ["aa", "bb", "cc", "dd"]
    assert ids(database, order="-layers")[0] == "cc"


def test_queries_over_all_tables(database: Database) -> None:
    best = database.query("select encoding, max(exact_match_5) as best from runs group by all order by best, encoding")
    assert best.dicts() == [
        {"encoding": "rope", "best": 0.75},
        {"encoding": "fire", "best": 1.0},
        {"encoding": "none", "best": None},
    ]
    joined = (
        "with e as (from evaluation) select encoding, digits, e.exact_match from runs join e using (id) where id = 'aa'"
    )
    assert database.query(joined).rows == [("fire", 5, 1.0), ("fire", 20, 0.95)]
    lines = database.query("select step, loss, exact_match['2'] from metrics where id = 'aa' order by step, loss").rows
    assert lines == [(10, 0.2, None), (10, None, 0.25), (20, 0.1, None)]
    assert "trained_digits" in [row[0] for row in database.query("describe runs").rows]
    (config,) = database.query("select config from runs where id = 'cc'").rows[0]
    assert config["model"]["layers"] == 3


def test_types_are_those_that_conditions_expect(database: Database) -> None:
    types = {row[0]: row[1] for row in database.query("describe runs").rows}
    assert {column.name: column.type for column in RUNS}.items() <= types.items()
    assert types["exact_match_20"] == "DOUBLE"
    metrics = {row[0]: row[1] for row in database.query("describe metrics").rows}
    assert metrics == {
        "id": "VARCHAR",
        "step": "BIGINT",
        "loss": "DOUBLE",
        "accuracy": "DOUBLE",
        "exact_match": "MAP(VARCHAR, DOUBLE)",
        "examples": "BIGINT",
        "tokens": "BIGINT",
    }


@pytest.mark.parametrize("column", [column.name for column in RUNS])
def test_no_column_needs_quotes(column: str, database: Database) -> None:
    assert len(database.select(f"{column} is null or {column} is not null").rows) == 4


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("encodng = 'fire'", "runs: no column 'encodng'; did you mean encoding?"),
        ("encoding = fire", "runs: no column 'fire'; write texts in single quotes: 'fire'"),
        ('encoding = "rope"', "runs: no column 'rope'; write texts in single quotes: 'rope'"),
        (
            "exact_match_30 > 0.5",
            "runs: no column 'exact_match_30': no run was tested at 30 digits; tested lengths are 5,20",
        ),
        ("zzz > 1", "runs: no column 'zzz'; choose one of id, state, recipe, task,"),
        ("order = 'reversed'", 'syntax error at or near "order" (did you mean digit_order?)'),
        ("layers > 'x'", "runs: \"layers > 'x'\": Could not convert string 'x' to INT64"),
        ("layers >", "runs: 'layers >': syntax error"),
        ("(layers = 3", "runs: '(layers = 3': syntax error"),
        ("runs.layer = 3", "runs: no column 'layer'; did you mean layers?"),
        ("true; drop table runs", "runs: 'true; drop table runs': syntax error"),
        ("true) ; (select 1", "is not a single condition or SELECT statement"),
        ("true); drop table runs; select (1", "is not a single condition or SELECT statement"),
        ("nearly(layers) > 1", "Scalar Function with name nearly does not exist"),
    ],
)
def test_mistaken_conditions(condition: str, message: str, database: Database) -> None:
    with pytest.raises(UserError) as error:
        database.select(condition)
    assert message in str(error.value) and "\n" not in str(error.value)
    assert len(database.select().rows) == 4


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select * from rns", "runs: no table 'rns'; did you mean runs?"),
        ("select r.id from runs", "runs: no table 'r'; choose one of"),
        ("select exact_mach from evaluation", "runs: no column 'exact_mach'; did you mean exact_match?"),
        ("select acuracy from metrics", "runs: no column 'acuracy'; did you mean accuracy?"),
        ("select 1; select 2", "is not a single condition or SELECT statement"),
        ("with x as (select 1) delete from runs", "is not a single condition or SELECT statement"),
    ],
)
def test_mistaken_queries(sql: str, message: str, database: Database) -> None:
    with pytest.raises(UserError) as error:
        database.query(sql)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "sql",
    [
        "from read_csv('{file}')",
        "from read_text('{file}')",
        "from '{file}'",
        "from glob('{file}')",
        "from read_json('http://127.0.0.1/x')",
        "copy runs to '{file}.out'",
        "attach '{file}.db' as other",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "pragma enable_profiling",
        "drop table runs",
        "select * from secret",
        "select * from query('from read_csv(''{file}'')')",
        "select getenv('PATH')",
    ],
)
def test_nothing_but_the_tables_can_be_read_and_nothing_written(sql: str, database: Database, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UserError):
        database.query(sql.format(file=secret))
    assert sorted(tmp_path.iterdir()) == before
    assert len(database.select().rows) == 4


def test_unknown_columns_of_options_are_named_too(database: Database) -> None:
    with pytest.raises(UserError, match=r"no column 'encodin'; did you mean encoding\?"):
        database.select(columns=["id", "encodin"])
    with pytest.raises(UserError, match=r"no column 'layer'; did you mean layers\?"):
        database.select(order="-layer")


def test_an_empty_folder_has_empty_tables(tmp_path: Path) -> None:
    database = Database(Loaded(tmp_path))
    for table in ("runs", "evaluation", "metrics"):
        assert database.query(f"from {table}").rows == []
    with pytest.raises(UserError, match="none has been tested at all yet"):
        database.select("exact_match_5 > 0.5")


def test_several_weights_and_carry_chains_stay_apart(make_run: MakeRun, runs_folder: Path) -> None:
    folder = make_run("aa", {5: 1.0})
    (folder / "evaluation.json").write_text(
        '[{"weights": "best", "digits": 5, "exact_match": 0.1},'
        '{"weights": "last", "digits": 5, "exact_match": 0.2, "chain": 4},'
        '{"weights": "last", "digits": 5, "exact_match": 0.3}]'
    )
    folder = make_run("bb", {5: 1.0})
    (folder / "evaluation.json").write_text('[{"weights": "ema", "digits": 5, "exact_match": 0.4}]')
    database = Database(read_runs(runs_folder))
    assert database.query("select id, weights, exact_match_5 from runs order by id").rows == [
        ("aa", "last", 0.3),
        ("bb", "ema", 0.4),
    ]
    assert len(database.query("from evaluation").rows) == 4
