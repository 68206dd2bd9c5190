"""The server's answers: sums, attention, runs, claims; its limits; many clients at once."""

import base64
import json
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("web")]  # they share a server and a browser

Server = Any  # of conftest.py

SUM = {"model": "robust", "a": "31415926", "b": "27182818"}


def test_models_in_the_box_come_first(server: Server) -> None:
    status, models = server.get("/api/models")
    assert status == 200 and [model["name"] for model in models][:3] == ["robust", "paper", "fragile"]
    status, details = server.get("/api/model", name="robust")
    assert details["trained_digits"] == 10 and details["longest"] >= 100 and details["told"]


def test_a_sum_at_once_and_as_events(server: Server) -> None:
    status, answer = server.get("/api/sum", **SUM)
    assert status == 200 and answer["done"]["answer"] == "58598744" and answer["done"]["correct"]
    assert "".join(token["text"] for token in answer["tokens"]) == "447895850$"
    with urlopen(f"{server.url}/api/events?{urlencode(SUM)}", timeout=60) as stream:
        events = [part.split("\ndata: ") for part in stream.read().decode().removesuffix("\n\n").split("\n\n")]
    kinds = [kind.removeprefix("event: ") for kind, _ in events]
    assert kinds == ["question", *["token"] * 10, "done"]
    assert json.loads(events[0][1]) == answer["question"]
    assert [json.loads(data) for _, data in events[1:-1]] == answer["tokens"]
    for token in answer["tokens"]:
        assert token["top"][0][0] == token["text"] and sum(share for _, share in token["top"]) == pytest.approx(
            1, abs=0.1
        )


def test_attention_sums_to_one(server: Server) -> None:
    status, seen = server.get("/api/attention", model="robust", a="58", b="67")
    assert status == 200 and seen["layers"] == 2 and seen["heads"] == 4
    data, keys = base64.b64decode(seen["data"]), len(seen["keys"])
    rows = [data[start : start + keys] for start in range(0, len(data), keys)]
    assert len(rows) == 2 * 4 * len(seen["written"])
    assert all(sum(row) == pytest.approx(255, abs=keys) for row in rows)
    assert seen["bias"]["low"] < seen["bias"]["high"]


def test_a_run_can_be_asked_and_may_disappear(trained: Any, server: Server) -> None:
    shutil.copytree(trained, server.runs / "dddd0")
    assert server.get("/api/sum", model="dddd0", a="1", b="2")[0] == 200
    shutil.rmtree(server.runs / "dddd0")
    assert "dddd0" not in [model["name"] for model in server.get("/api/models")[1]]
    status, problem = server.get("/api/model", name="dddd0")
    assert status == 404 and "dddd0" in problem["error"]


def test_runs_with_a_condition(server: Server) -> None:
    status, table = server.get("/api/runs")
    assert status == 200 and table["total"] == 7 and "not-a-run" in table["note"]
    assert {run["id"] for run in server.get("/api/runs", condition="trained_digits = 4")[1]["runs"]} == {
        "bbbb0",
        "bbbb1",
    }
    live = next(run for run in table["runs"] if run["id"] == "cccc0")
    assert live["state"] == "running" and live["scores"] == {} and not live["asks"]
    status, curves = server.get("/api/curves", run="aaaa1")
    assert [score["digits"] for score in curves["scores"]] == [3, 5, 10] and curves["loss"] == [[10, 0.2], [20, 0.1]]
    assert curves["progress"] == {"2": [[10, 0.25]], "4": [[10, 0.0]]}


def test_comparison_gives_the_sentence_of_the_statistics(server: Server) -> None:
    status, compared = server.get("/api/compare", a="trained_digits = 3", b="trained_digits = 4", digits=5)
    assert status == 200 and "at 5 digits" in compared["sentence"]
    assert [len(group["scores"]) for group in compared["groups"]] == [3, 2]
    status, problem = server.get("/api/compare", a="true", b="true", digits=5)
    assert status == 400 and "both groups" in problem["error"]


def test_claims_have_verdicts_figures_and_runs(server: Server) -> None:
    status, answer = server.get("/api/claims")
    assert status == 200 and len(answer["claims"]) > 10
    claim = next(claim for claim in answer["claims"] if claim["figure"])
    assert claim["runs"] and claim["finding"] in ("holds", "does not hold", "not enough evidence")
    assert server.get("/api/figure", name=claim["figure"].replace("png", "pdf"))[0] == 422
    with urlopen(f"{server.url}/api/figure?name={claim['figure']}", timeout=60) as figure:
        assert figure.read(4) == b"\x89PNG"


MISTAKES = [
    ("/api/sum", {"model": "robust", "a": "1" * 1001, "b": "1"}, 422, "a:"),
    ("/api/sum", {"model": "fragile", "a": "1" * 500, "b": "1"}, 400, "reads numbers of at most 31 digits"),
    ("/api/sum", {"model": "robust", "a": "-1", "b": "1"}, 422, "a:"),
    ("/api/sum", {"model": "robust", "a": "٣", "b": "1"}, 422, "a:"),
    ("/api/sum", {"model": "robust", "a": "1"}, 422, "b:"),
    ("/api/events", {"model": "fragile", "a": "1" * 500, "b": "1"}, 400, "reads numbers"),
    ("/api/sum", {"model": "../robust", "a": "1", "b": "1"}, 422, "model:"),
    ("/api/sum", {"model": "nothing", "a": "1", "b": "1"}, 404, "no model or run 'nothing'"),
    ("/api/sum", {"model": "not-a-run", "a": "1", "b": "1"}, 404, "no model or run"),
    ("/api/sum", {"model": "aaaa0", "a": "1", "b": "1"}, 400, "has no model.safetensors"),
    ("/api/attention", {"model": "robust", "a": "9" * 900, "b": "1"}, 400, "too long"),
    ("/api/runs", {"condition": "encodin = 'fire'"}, 400, "did you mean encoding?"),
    ("/api/runs", {"condition": "select 1"}, 400, "expected a condition"),
    ("/api/runs", {"condition": "exists (select 1 from read_text('/etc/passwd'))"}, 400, ""),
    ("/api/runs", {"condition": "x" * 1001}, 422, "condition:"),
    ("/api/curves", {"run": "../../etc"}, 422, "run:"),
    ("/api/compare", {"a": "true", "b": "false", "digits": 0}, 422, "digits:"),
    ("/api/figure", {"name": "../members.csv"}, 422, "name:"),
    ("/api/figure", {"name": "nothing.png"}, 404, "no figure"),
    ("/api/nothing", {}, 404, "nothing here"),
    ("/pages/../server.py", {}, 404, "nothing here"),
    ("/pages/%2e%2e/server.py", {}, 404, "nothing here"),
    ("/pages/..%2fserver.py", {}, 404, "nothing here"),
    ("/docs", {}, 404, "nothing here"),
]


@pytest.mark.parametrize(("path", "query", "status", "sentence"), MISTAKES)
def test_mistakes_are_told_in_a_sentence(
    server: Server, path: str, query: dict[str, Any], status: int, sentence: str
) -> None:
    found, problem = server.get(path, **query)
    assert found == status and list(problem) == ["error"] and sentence in problem["error"]


def test_a_condition_may_not_take_forever(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lengthlab.web.evidence.SECONDS", 0.2)  # the server is a thread of this process
    endless = "0 < (select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = 7)"
    for path, query in (("/api/runs", {"condition": endless}), ("/api/compare", {"a": "true", "b": endless})):
        status, problem = server.get(path, digits=5, **query)
        assert status == 400 and "took longer than 0.2 seconds" in problem["error"]


def test_fifty_clients_at_once(server: Server) -> None:
    """All get their own answer; a short sum does not wait for a long one, which is still under way when it is done."""
    sums = [{"model": "robust", "a": str(10**7 + 13 * i), "b": str(10**7 + 7 * i)} for i in range(50)]
    with ThreadPoolExecutor(52) as clients:
        long = clients.submit(server.get, "/api/sum", model="robust", a="7" * 600, b="5" * 600)
        answers = list(clients.map(lambda query: server.get("/api/sum", **query), sums))
        short_first = not long.done()
        assert long.result()[0] == 200
    assert [status for status, _ in answers] == [200] * 50 and short_first
    for query, (_, answer) in zip(sums, answers, strict=True):
        assert answer["done"]["truth"] == str(int(query["a"]) + int(query["b"])) and answer["done"]["correct"]


def test_sums_that_arrive_together_are_one_batch() -> None:
    import asyncio

    from lengthlab.shipped.adder import find_adder
    from lengthlab.web.decoder import Decoder

    adder, decoder = find_adder("robust"), Decoder()

    async def ask(i: int) -> bool:
        *_, done = [event async for event in decoder.ask("robust", adder, str(100 + i), str(900 - i))]
        return done.correct  # type: ignore[union-attr]

    async def ask_all() -> list[bool]:
        waiting = [asyncio.create_task(ask(i)) for i in range(20)]
        await asyncio.sleep(0.2)  # all are there before the decoder begins
        decoder.start()
        return await asyncio.gather(*waiting)

    with ThreadPoolExecutor(1) as elsewhere:  # playwright may have a loop of its own in this thread
        assert all(elsewhere.submit(asyncio.run, ask_all()).result())
    decoder.stop()
    assert decoder.largest_group == 20


def send(server: Server, request: str) -> str:
    """What the server answers to bytes that no client of ours would send."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        closing = request.replace("\n\n", "\nConnection: close\n\n", 1)
        connection.sendall(closing.replace("\n", "\r\n").encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ("GET /api/models HTTP/1.1\nHost: evil.example\n\n", 421),
        ("GET /api/models HTTP/1.1\nHost: 127.0.0.1:1\n\n", 421),
        ("GET /api/models HTTP/1.1\nHost: {host}\nOrigin: http://evil.example\n\n", 403),
        ("GET /api/models HTTP/1.1\nHost: {host}\nOrigin: null\n\n", 403),
        ("GET /api/models HTTP/1.1\nHost: {host}\nSec-Fetch-Site: cross-site\n\n", 403),
        ("POST /api/models HTTP/1.1\nHost: {host}\nContent-Length: 2\n\n{{}}", 405),
        ("GET /api/models HTTP/1.1\nHost: {host}\nContent-Length: 2\n\n{{}}", 413),
        ("GET /{long} HTTP/1.1\nHost: {host}\n\n", 414),
        ("nonsense\n\n", 400),
    ],
)
def test_who_may_not_ask(server: Server, request_: str, status: int) -> None:
    host = server.url.removeprefix("http://")
    answer = send(server, request_.format(host=host, long="x" * 9000))
    assert answer.startswith(f"HTTP/1.1 {status} ")
    if status != 400:
        assert "content-security-policy: default-src 'none'" in answer and '{"error":' in answer


def test_beyond_this_machine_a_token_is_needed(runs_folder: Any, start_server: Any) -> None:
    for open_server in start_server(runs_folder, "--host", "0.0.0.0", LENGTHLAB_TOKEN="open-sesame"):
        here = replace(open_server, url=open_server.url.replace("0.0.0.0", "127.0.0.1"))
        assert here.get("/api/models")[0] == 401 and here.get("/")[0] == 401
        assert here.get("/api/models", {"Authorization": "Bearer wrong"})[0] == 401
        assert here.get("/api/models", {"Authorization": "Bearer open-sesame"})[0] == 200
        assert here.get("/api/models", {"Cookie": "lengthlab=open-sesame"})[0] == 200
        assert "set-cookie: lengthlab=open-sesame; HttpOnly" in send(
            here, f"GET /?token=open-sesame HTTP/1.1\nHost: {here.url.removeprefix('http://')}\n\n"
        )


def test_every_endpoint_keeps_its_schema(server: Server) -> None:
    """What is asked at random, right or wrong, is answered as the schema says; nothing breaks the server."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    quick = settings(
        max_examples=6, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip

    def validate(case: Any) -> None:
        # Not every text is a condition, and not every name a run's: such requests may be refused.
        case.call_and_validate(base_url=server.url, timeout=60, excluded_checks=[positive_data_acceptance])

    _, schema = server.get("/api/openapi.json")
    api: Any = schemathesis.openapi.from_dict(schema)
    assert set(schema["paths"]) == {
        *("/api/models", "/api/model", "/api/sum", "/api/events", "/api/attention"),
        *("/api/runs", "/api/curves", "/api/compare", "/api/claims", "/api/figure", "/api/board"),
    }
    for operation in api.get_all_operations():
        endpoint = operation.ok()
        if endpoint.path not in ("/api/claims", "/api/board"):  # take nothing, and are tested elsewhere
            quick(given(case=endpoint.as_strategy())(validate))()
