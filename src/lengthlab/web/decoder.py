"""One thread that computes all active sums, a token of each in turn.

So a short sum never waits for a long one, and sums of the same shape that arrive together are rows of one batch.
"""

import asyncio
import queue
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from lengthlab.batches import Batch
from lengthlab.errors import UserError
from lengthlab.formats.layout import BEGINNING, DIGIT, ENDING, FILLER, HINT, SEPARATOR
from lengthlab.formats.vocabulary import END, PAD
from lengthlab.model.cache import Cache
from lengthlab.shipped.adder import Adder
from lengthlab.web.schema import Column, Done, Question, Token

ROLES: dict[int, Any] = {
    BEGINNING: "begin", SEPARATOR: "separator", DIGIT: "digit", HINT: "hint", ENDING: "end", FILLER: "filler"
}  # fmt: skip
SHOWN = 5  # likeliest tokens
WAITING = 200  # sums at most; more are turned away
Event = Question | Token | Done


class Busy(UserError):
    """Too many sums at once."""


@dataclass(eq=False)
class Request:
    """One sum that somebody waits for."""

    name: str
    adder: Adder
    batch: Batch
    loop: asyncio.AbstractEventLoop
    events: "asyncio.Queue[Event | Exception | None]" = field(default_factory=asyncio.Queue)
    produced: list[int] = field(default_factory=list)
    began: float = field(default_factory=perf_counter)
    over: bool = False  # finished, or nobody waits any more

    def tell(self, *events: Event | Exception | None) -> None:
        for event in events:
            self.loop.call_soon_threadsafe(self.events.put_nowait, event)


def describe(name: str, adder: Adder, batch: Batch, a: str, b: str) -> Question:
    """The columns of a sum, the right answer included."""
    texts, layout = adder.pipeline.format.vocabulary.texts, batch.layout
    columns = zip(
        batch.tokens[0].tolist(), layout.role[0].tolist(), layout.segment[0].tolist(), layout.place[0].tolist(),
        strict=True,
    )  # fmt: skip
    return Question(
        model=name,
        a=a,
        b=b,
        columns=[
            Column(text=texts[token], role=ROLES[role], number=segment, place=place)
            for token, role, segment, place in columns
        ],
        answer=batch.answer,
        trained_digits=adder.pipeline.config.training.digits,
    )


class DecodingGroup:
    """Sums of one shape under one model, decoded together."""

    def __init__(self, requests: list[Request]) -> None:
        self.requests = requests
        first = requests[0]
        self.adder = first.adder
        self.batch = replace(first.batch, tokens=torch.cat([request.batch.tokens for request in requests]))
        self.tokens = self.batch.tokens[:, : self.batch.answer]
        self.cache, self.index = Cache(), 0

    @property
    def over(self) -> bool:
        return all(request.over for request in self.requests)

    @torch.no_grad()
    def step(self) -> None:
        """Write the next token of every sum."""
        model, batch = self.adder.model, self.batch
        logits = model(
            self.tokens.to(model.device),
            batch.to(model.device).positions,
            first=self.tokens.shape[1] - 1,
            cache=self.cache,
            prompt=batch.answer,
        )[:, -1].cpu()
        shares, likeliest = logits.softmax(-1).topk(min(SHOWN, logits.shape[-1]))
        self.tokens = logits.argmax(-1, keepdim=True)
        for row, request in enumerate(self.requests):
            if not request.over:
                self._tell(request, int(self.tokens[row]), likeliest[row], shares[row])
        self.index += 1

    def _tell(self, request: Request, token: int, likeliest: Tensor, shares: Tensor) -> None:
        texts = self.adder.pipeline.format.vocabulary.texts
        due = int(request.batch.targets[0, self.index])
        top = [(texts[t], round(s, 5)) for t, s in zip(likeliest.tolist(), shares.tolist(), strict=True)]
        request.produced.append(token)
        event = Token(column=self.batch.answer + self.index, text=texts[token], right=token == due, top=top)
        request.tell(event)
        if token == END or self.index + 1 == request.batch.targets.shape[1]:
            rest = [PAD] * (request.batch.targets.shape[1] - len(request.produced))
            request.over = True
            request.tell(self._done(request, request.produced + rest), None)

    def _done(self, request: Request, produced: list[int]) -> Done:
        """What the whole answer means."""
        reading = self.adder.pipeline.format.read(request.batch.tokens[0].tolist())
        assert reading is not None, "a format must be able to read what it wrote"
        return Done(
            answer=self.adder.pipeline.format.read_answer(produced),
            truth=reading.answer,
            correct=produced == request.batch.targets[0].tolist(),  # as exact match counts it: hints and end included
            milliseconds=round(1000 * (perf_counter() - request.began), 1),
        )

    def fail(self, error: Exception) -> None:
        for request in self.requests:
            request.over = True
            request.tell(error)


class Decoder:
    """Start it, ask it, stop it."""

    def __init__(self) -> None:
        self._arrived: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="sums", daemon=True)
        self._under_way = 0
        self.largest_group = 0  # sums that were decoded together at most

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._arrived.put(None)
        self._thread.join()

    async def ask(self, name: str, adder: Adder, a: str, b: str) -> AsyncIterator[Event]:
        """The question, then each token as it is written, then the answer."""
        batch = adder.question(a, b)
        if self._under_way >= WAITING:
            raise Busy(f"{WAITING} sums are being computed; ask again in a moment")
        request = Request(name, adder, batch, asyncio.get_running_loop())
        self._under_way += 1
        try:
            yield describe(name, adder, batch, a, b)
            self._arrived.put(request)
            while (event := await request.events.get()) is not None:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            request.over = True
            self._under_way -= 1

    def _work(self) -> None:
        groups: list[DecodingGroup] = []
        while True:
            new = self._new(wait=not groups)
            if new is None:
                return
            groups += new
            for group in groups:
                try:
                    group.step()
                except Exception as error:  # one sum that cannot be computed must not end all others
                    group.fail(error)
            groups = [group for group in groups if not group.over]

    def _new(self, wait: bool) -> list[DecodingGroup] | None:
        """Groups of the sums that have arrived; None when it is time to stop."""
        arrived: list[Request] = []
        while wait or not self._arrived.empty():
            request = self._arrived.get()
            if request is None:
                return None
            arrived.append(request)
            wait = False
        together: list[list[Request]] = []
        for request in (request for request in arrived if not request.over):
            for group in together:
                if group[0].adder is request.adder and group[0].batch.can_join(request.batch):
                    group.append(request)
                    break
            else:
                together.append([request])
        self.largest_group = max([self.largest_group, *map(len, together)])
        return [DecodingGroup(group) for group in together]
