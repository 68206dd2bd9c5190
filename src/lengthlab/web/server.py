"""The server: JSON and events under /api, plain files for the pages. Every request is a GET."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from lengthlab.errors import UserError
from lengthlab.web import evidence
from lengthlab.web.board import add_board
from lengthlab.web.decoder import Busy, Decoder
from lengthlab.web.guard import Guard
from lengthlab.web.look import look
from lengthlab.web.models import LONGEST, NAME, Library, NotThere
from lengthlab.web.schema import (
    Attention,
    Claims,
    Compared,
    Curves,
    Done,
    Model,
    ModelDetails,
    Problem,
    Question,
    RunTable,
    Sum,
    Token,
)
from lengthlab.web.shell import MENU, PAGES, MenuPage, served

EVENTS = {Question: "question", Token: "token", Done: "done"}
Name = Annotated[str, Query(pattern=f"^{NAME.pattern}$", description="A shipped model or the id of a run.")]
Number = Annotated[str, Query(pattern=f"^[0-9]{{1,{LONGEST}}}$", description="A whole number in decimal digits.")]
Condition = Annotated[str, Query(max_length=1000, description="An SQL condition, such as encoding = 'fire'.")]
Digits = Annotated[int, Query(ge=1, le=100_000)]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 401, 403, 404, 405, 413, 414, 421, 422, 503)
}


def make_app(runs: Path, results: Path, host: str = "127.0.0.1", port: int = 80, token: str | None = None) -> FastAPI:
    """The application over a folder of runs and a folder of result tables."""
    library, decoder = Library(runs), Decoder()

    @asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        decoder.start()
        yield
        await asyncio.to_thread(decoder.stop)

    app = FastAPI(
        title="lengthlab", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json", lifespan=alive,
        responses=PROBLEMS,
    )  # fmt: skip
    app.state.decoder = decoder
    app.add_middleware(Guard, host=host, port=port, token=token)
    _tell_problems(app)
    _add_sums(app, library, decoder)
    _add_evidence(app, library, results)
    add_board(app, results.parent / "board")

    for page in MENU:
        app.add_api_route(f"/{page.name}", partial(_page, page), include_in_schema=False)
    app.add_api_route("/", partial(_page, MENU[0]), include_in_schema=False)
    app.mount("/pages", StaticFiles(directory=PAGES))
    return app


def _page(page: MenuPage) -> HTMLResponse:
    return HTMLResponse(served(page))


def _tell_problems(app: FastAPI) -> None:
    """Every problem is JSON with a sentence."""

    @app.exception_handler(UserError)
    async def mistake(_: Request, error: UserError) -> Response:
        status = 404 if isinstance(error, NotThere) else 503 if isinstance(error, Busy) else 400
        return JSONResponse({"error": sentence(error)}, status)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return JSONResponse({"error": f"{first['loc'][-1]}: {first['msg']}"}, 422)

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        told = "there is nothing here" if error.status_code == 404 else str(error.detail)
        return JSONResponse({"error": told}, error.status_code)

    @app.exception_handler(Exception)
    async def unforeseen(_: Request, error: Exception) -> Response:
        return JSONResponse({"error": f"the server stumbled ({type(error).__name__})"}, 500)


def sentence(error: Exception) -> str:
    return " ".join(str(error).split())


def _add_sums(app: FastAPI, library: Library, decoder: Decoder) -> None:
    one_at_a_time = asyncio.Semaphore(1)  # attention takes memory

    @app.get("/api/models")
    def models() -> list[Model]:
        """Every model that can be asked for sums."""
        return library.models()

    @app.get("/api/model")
    def model(name: Name) -> ModelDetails:
        """Everything about one model."""
        return library.details(name)

    @app.get("/api/sum")
    async def sum_(model: Name, a: Number, b: Number) -> Sum:
        """The model's answer to a sum, all at once."""
        adder = await asyncio.to_thread(library.adder, model)
        question, *tokens, done = [event async for event in decoder.ask(model, adder, a, b)]
        return Sum.model_validate({"question": question, "tokens": tokens, "done": done})

    @app.get("/api/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}})
    async def events(model: Name, a: Number, b: Number) -> Response:
        """The same as server-sent events: question, token (one for each), done; or problem."""
        adder = await asyncio.to_thread(library.adder, model)
        adder.question(a, b)  # a mistake is told as such, before anything streams

        async def stream() -> AsyncIterator[str]:
            try:
                async for event in decoder.ask(model, adder, a, b):
                    yield f"event: {EVENTS[type(event)]}\ndata: {event.model_dump_json()}\n\n"
            except UserError as error:
                yield f"event: problem\ndata: {Problem(error=sentence(error)).model_dump_json()}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    @app.get("/api/attention")
    async def attention(model: Name, a: Number, b: Number) -> Attention:
        """What every head of every layer looked at as the model wrote its answer."""
        adder = await asyncio.to_thread(library.adder, model)
        async with one_at_a_time:
            return await asyncio.to_thread(look, adder, a, b)


def _add_evidence(app: FastAPI, library: Library, results: Path) -> None:
    @app.get("/api/runs")
    def runs(condition: Condition = "") -> RunTable:
        """The runs that meet a condition, the newest first."""
        return evidence.run_table(library.read(), condition)

    @app.get("/api/curves")
    def curves(run: Name) -> Curves:
        """Loss, exact match during training and by length."""
        library.run(run)
        found = next((record for record in library.read().records if record.id == run), None)
        if found is None:
            raise NotThere(f"run {run} cannot be read")
        return evidence.curves(found)

    @app.get("/api/compare")
    def compare(a: Condition, b: Condition, digits: Digits) -> Compared:
        """Two groups of runs against each other, over their seeds."""
        return evidence.compared(library.read(), a, b, digits)

    @app.get("/api/claims")
    def claims() -> Claims:
        """The paper's claims, each with its verdict."""
        return evidence.claims(results)

    @app.get("/api/figure", response_class=FileResponse, responses={200: {"content": {"image/png": {}}}})
    def figure(name: Annotated[str, Query(pattern=r"^[a-z0-9][a-z0-9-]{0,63}\.png$")]) -> Response:
        """A figure of the result tables."""
        if not (results / "figures" / name).is_file():
            raise NotThere(f"there is no figure {name} here")
        return FileResponse(results / "figures" / name)
