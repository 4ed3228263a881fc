"""One model at several servers: each call goes to the least busy of those that can be asked, and to another where it fails."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from ramify.tools.errors import ModelError
from ramify.tools.models import server_errors
from ramify.tools.models.concurrency import enter_one, lasting_cap
from ramify.tools.models.learned_tokens import LearnedCount
from ramify.tools.models.model import Model
from ramify.tools.models.pooled_server import ElsewhereError, Seat
from ramify.tools.models.reply_parsing import Structured
from ramify.tools.models.server_errors import Server
from ramify.tools.models.structured_call import allowance
from ramify.tools.models.tokens import estimate

PATIENT = 2
"""Servers that a call may wait for in vain: where both are silent, the reply takes longer than the time there is."""


@dataclass(frozen=True, eq=False)
class Pool(Model):
    """A model at several servers, each with a cap, a record and a health of its own."""

    seats: tuple[Seat, ...] = field(kw_only=True, repr=False)

    @property
    def notices(self) -> list[str]:
        """Say which servers are asked, and which are left out."""
        return [*super().notices, *self.left_out]

    @property
    def told(self) -> list[str]:
        """Say what servers are asked otherwise than meant, and which are left out now."""
        told = [notice for seat in self.seats if seat.model for notice in seat.model.told]
        return list(dict.fromkeys([*told, *self.left_out]))

    @property
    def left_out(self) -> list[str]:
        """Say of each server that is left out now why it is."""
        return [why for seat in self.seats if (why := seat.left_out)]

    @property
    def thought_tokens(self) -> int:
        """Tell how many tokens a reply may take beside `num_predict`: where one server's thinks, as many at each."""
        thinks = any(seat.model.server.record.way.thinks for seat in self.seats if seat.model)
        return allowance(self.num_ctx) if thinks and self.num_predict is not None else 0

    async def reply(self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None = None) -> Structured:
        """Ask as one server is asked; ModelError where none can be."""
        for pause in (*server_errors.PAUSES, None):
            asked = await self._anywhere(messages, schema, longest)
            if isinstance(asked, Structured):
                return asked
            if pause is None or asked.trouble == "silent":  # to wait as long once more would be no help
                raise asked.told
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _anywhere(self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None) -> Structured | ElsewhereError:
        """Ask one server after another, and give what one said where none serves; ModelError where none is there."""
        failed: dict[Seat, ElsewhereError] = {}
        while True:
            while seat := await self._entered(failed):
                try:
                    return await seat.serve(messages, schema, longest)
                except ElsewhereError as error:
                    failed[seat] = error
                    if [one.trouble for one in failed.values()].count("silent") >= PATIENT:
                        raise error.told from None
            if not any(seat.found for seat in self.seats):  # those that are left out may be back
                await asyncio.gather(*(asyncio.to_thread(seat.look_again) for seat in self.seats))
                if not any(seat.found for seat in self.seats):
                    raise nobody(self.name, self.seats)
            if failed:
                return min(failed.values(), key=lambda error: error.trouble == "silent")

    async def _entered(self, tried: Collection[Seat]) -> Seat | None:
        """Take a place at the least busy server, as soon as there is one; None where each was tried or is left out."""
        while True:
            for seat in self.seats:
                seat.look_soon()
            there = {seat.gate: (seat, model.cap.limit) for seat in self.seats if seat not in tried and (model := seat.found)}
            if not there:
                return None
            gate = await enter_one({gate: limit for gate, (_, limit) in there.items()})
            if gate is None:  # a server was left out, or is back
                continue
            seat, _ = there[gate]
            if seat.found:
                return seat
            gate.leave()


def pooled(name: str, looks: Mapping[str, Callable[[], Model]]) -> Pool:
    """Look a model up at several servers, each by its address as it may be shown; blocking. ModelError where none has it."""
    provider, _, model = name.partition(":")
    seats = tuple(Seat(url, look, lasting_cap((provider, model, url), None).gate) for url, look in looks.items())
    with ThreadPoolExecutor(len(seats)) as threads:
        for _ in threads.map(Seat.look_again, seats):  # an error of usage is raised here
            pass
    there = [found for seat in seats if (found := seat.found)]
    if not there:
        raise nobody(name, seats)
    windows = [found.num_ctx for found in there if found.num_ctx]
    least = min(windows, default=None)
    for seat in seats:
        seat.least = least or 0
        seat.changed = lambda: _recall(seats)
    first = there[0]
    server = Server(name, first.server.timeout, remote=True)
    return Pool(
        name, first.chat, lambda text: _count(seats, text), first.cap, least, server,
        notice=_notice(name, seats, least if len(set(windows)) > 1 else None), num_predict=first.num_predict, seats=seats,
        client_s=max(found.client_s for found in there),
    )  # fmt: skip


def nobody(name: str, seats: Sequence[Seat]) -> ModelError:
    """Say of each server why it cannot be asked."""
    remedies = dict.fromkeys(seat.remedy for seat in seats if seat.remedy)
    return ModelError(
        f"none of the {len(seats)} servers can be asked: {'; '.join(seat.health.why for seat in seats)}", "; or ".join(remedies)
    )


def _notice(name: str, seats: Sequence[Seat], window: int | None) -> str:
    """Say who is asked, and that the windows differ where they do."""
    notice = f"{name} is asked at {len(seats)} servers: {', '.join(seat.url for seat in seats)}"
    return notice if window is None else f"{notice}; their windows differ, and prompts are made for the smallest, of {window} tokens"


def _recall(seats: Sequence[Seat]) -> None:
    """Let those who wait for a place choose anew."""
    for seat in seats:
        seat.gate.recall()


def _count(seats: Sequence[Seat], text: str) -> int:
    """Count by the tokenizer of a server that has one, else by what was learned of all: the prompt may go to any."""
    counts = [model.count for seat in seats if (model := seat.found)]
    exact = [count for count in counts if count is not estimate and not isinstance(count, LearnedCount)]
    return exact[0](text) if exact else max((count(text) for count in counts), default=estimate(text))
