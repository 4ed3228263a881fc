"""The load: questions of the plan, many at once, through all doors, against model servers that fail; then what must hold is looked up."""

import asyncio
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
from mcp import Client, ClientSession, StdioServerParameters, stdio_client

from ramify.graphs.conversation import threads
from ramify.studio.cli import run as command_line
from tests.river import TEXTS
from tests.studio.dev_server import free_port
from tests.torture.doors import RAMIFY, Places, model_options, served_turns, through
from tests.torture.outcome import TRACEBACK, Outcome, said
from tests.torture.plan import CAP, DOORS, MAX_CALLS, Case, case, served
from tests.torture.processes import PATIENCE_S, ROOT, Watched, child, start
from tests.torture.report import Failures

SETTINGS = ("--set", f"max_calls={MAX_CALLS}", "--set", "timeout=3", "--set", "check=none", "--set", f"max_concurrency={CAP}")
OF_THE_ASKER = ("python", "tool", "conversation")
NOBODY = str(ROOT / "tests" / "files" / "nobody.pem")
"""Whom clients trust: each would read all that a machine does."""
SAMPLES = 300
"""Measurements of each process in a run."""


class Load:
    """A run of the load."""

    def __init__(self, seed: int, seconds: float, at_once: int, out: Path, chosen: Sequence[int] | None, failures: Failures) -> None:
        self.seed, self.seconds, self.at_once, self.out, self.failures = seed, seconds, at_once, out, failures
        self.numbers = iter(range(10**9) if chosen is None else chosen)
        self.doors = set(DOORS) if chosen is None else {case(seed, number).door for number in chosen}
        self.begun = time.monotonic()
        self.asked: set[int] = set()
        self.outcomes: dict[int, list[Outcome]] = {}
        self.watched: list[Watched] = []
        self.replies: dict[int, asyncio.Future[list[Outcome]]] = {}

    def passed(self) -> float:
        """Return the seconds since questions are asked."""
        return time.monotonic() - self.begun

    async def run(self) -> None:
        """Start all processes, ask until the time is over, and look at what is left."""
        async with AsyncExitStack() as stack:
            places, asker = await self._prepare(stack)
            listening = asyncio.create_task(self._listen(asker))
            measuring = asyncio.create_task(self._measure())
            self.begun = time.monotonic()
            workers = [asyncio.create_task(self._work(places, asker)) for _ in range(self.at_once)]
            await self._until_ended(workers)
            measuring.cancel()
            for process in self.watched:
                process.measure(self.passed())  # now that nothing is asked any more
            asker.stdin.close()
            await listening
            await asker.wait()
            self._check_outcomes()
            await self._check_conversations(places)
        self._check_servers()
        self._check_logs()
        for process in self.watched:
            for growth in process.growing():
                self.failures.add("load", growth, seed=self.seed)

    async def _until_ended(self, workers: list[asyncio.Task[None]]) -> None:
        """Wait for the workers; give up once the time is over and nothing has ended for long."""
        ended = -1
        while ended < len(self.outcomes) or self.passed() < self.seconds:
            ended = len(self.outcomes)
            _, late = await asyncio.wait(workers, timeout=PATIENCE_S)
            if not late:
                return
        for one in late:
            one.cancel()
        await asyncio.wait(late)

    async def _prepare(self, stack: AsyncExitStack) -> tuple[Places, Any]:
        index = await self._index()
        names = [f"{door} {protocol}" for door in ("asker", "command") for protocol in ("ollama", "openai")]
        kept = [f"{door} {served(self.seed, door)[0]}" for door in ("serve", "http", "stdio")]
        quiet = {"RAMIFY_CACHE": str(self.out / "cache"), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "SSL_CERT_FILE": NOBODY}
        model = [sys.executable, "-m", "tests.torture.model_server", str(self.seed), str(self.out / "calls.jsonl"), *names, *kept]
        server = await self._start(stack, "model server", model, quiet, watch=False)
        addresses = json.loads(await server.stdout.readline())
        where = [addresses["asker ollama"], addresses["asker openai"]]
        memory = f"sqlite:{self.out / 'asker.sqlite'}"
        asking = [sys.executable, "-m", "tests.torture.asker", str(self.seed), index, memory, *where]
        asker = await self._start(stack, "asker", asking, quiet)
        serve, http, stdio = (self._command(door, addresses, index) for door in ("serve", "http", "stdio"))
        port, other = free_port(), free_port()
        keeping = ["--memory", f"sqlite:{self.out / 'serve.sqlite'}", "--at-once", "32", "--port", str(port)]
        await self._start(stack, "serve", [RAMIFY, "serve", *serve, *keeping], quiet)
        if "mcp http" in self.doors:
            await self._start(stack, "mcp http", [RAMIFY, "mcp", "--http", "--port", str(other), *http], quiet)
        client = await stack.enter_async_context(
            httpx.AsyncClient(timeout=PATIENCE_S, trust_env=False, limits=httpx.Limits(max_connections=None, keepalive_expiry=2))
        )
        await self._until_listening(port)
        by_http = by_stdio = None
        if "mcp http" in self.doors:
            await self._until_listening(other)
            by_http = await stack.enter_async_context(Client(f"http://127.0.0.1:{other}/mcp"))
        if "mcp stdio" in self.doors:
            by_stdio = await self._by_stdio(stack, stdio, quiet)
        places = Places(index, f"http://127.0.0.1:{port}", by_http, by_stdio, addresses, quiet, asyncio.Semaphore(2), client)
        return places, asker

    async def _by_stdio(self, stack: AsyncExitStack, options: list[str], environment: dict[str, str]) -> ClientSession:
        errors = stack.enter_context((self.out / "mcp-stdio.log").open("w"))
        parameters = StdioServerParameters(command=RAMIFY, args=["mcp", *options], env=environment, cwd=ROOT)
        streams = await stack.enter_async_context(stdio_client(parameters, errlog=errors))
        session = await stack.enter_async_context(ClientSession(*streams))
        await session.initialize()
        self.watched.append(Watched("mcp stdio", child("mcp --model")))
        return session

    def _command(self, door: str, addresses: dict[str, str], index: str) -> list[str]:
        protocol, strategy = served(self.seed, door)
        return [*model_options(protocol, addresses[f"{door} {protocol}"]), "--strategy", strategy, "--index", index, *SETTINGS]

    async def _index(self) -> str:
        documents, index = self.out / "documents", self.out / "river"
        documents.mkdir()
        for number, text in enumerate(TEXTS):
            (documents / f"{number}.txt").write_text(text, encoding="utf-8")
        if await asyncio.to_thread(command_line, ["index", str(documents), "--out", str(index), "--kind", "graph"]) != 0:
            raise RuntimeError("the index could not be made")
        return str(index)

    async def _start(self, stack: AsyncExitStack, name: str, command: list[str], environment: dict[str, str], watch: bool = True) -> Any:
        process = await start(name, command, self.out, environment)

        async def end() -> None:
            if process.returncode is None:
                process.terminate()
                await process.wait()

        stack.push_async_callback(end)
        if watch:
            self.watched.append(Watched(name, process.pid))
        return process

    async def _until_listening(self, port: int) -> None:
        for _ in range(int(PATIENCE_S * 2)):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.5)
            else:
                writer.close()
                return
        raise RuntimeError("a server did not start: its log has more")

    async def _measure(self) -> None:
        while True:
            for process in self.watched:
                process.measure(self.passed())
            await asyncio.sleep(max(0.5, self.seconds / SAMPLES))

    async def _listen(self, asker: Any) -> None:
        """Take what the asker writes, until its end."""
        while line := await asker.stdout.readline():
            told = json.loads(line)
            waiting = self.replies.pop(told["case"], None)
            if waiting is None:
                self.failures.add("load", f"case {told['case']} was answered twice", seed=self.seed, case=told["case"])
            elif not waiting.done():
                waiting.set_result(told["outcomes"])
        for number, waiting in self.replies.items():
            if not waiting.done():
                waiting.set_result([said("broken", f"the process ended before case {number} did")])

    async def _work(self, places: Places, asker: Any) -> None:
        """Ask one question after another until the time is over."""
        for number in self.numbers:
            if self.passed() > self.seconds:
                return
            told = case(self.seed, number)
            self.asked.add(number)
            try:
                if told.door in OF_THE_ASKER:
                    waiting = self.replies[number] = asyncio.get_running_loop().create_future()
                    asker.stdin.write(f"{number}\n".encode())
                    found = await waiting
                else:
                    found = await through(told, places)
            except (httpx.HTTPError, OSError, ValueError, KeyError) as error:
                found = [said("broken", f"{type(error).__name__}: {error}")]
            self.outcomes[number] = found
            if len(self.outcomes) % 500 == 0:
                print(f"  {self.passed():6.0f} s  {len(self.outcomes)} questions ended", flush=True)

    def _check_outcomes(self) -> None:
        for number in sorted(self.asked):
            told = case(self.seed, number)
            found = self.outcomes.get(number, [])
            if len(found) != told.turns and not any(one["kind"] == "broken" for one in found):
                self._fail(told, f"{len(found)} of {told.turns} turns came to an end")
            for one in found:
                if one["kind"] == "broken":
                    self._fail(told, one["text"])

    def _fail(self, told: Case, what: str) -> None:
        about = {"door": told.door, "strategy": told.strategy, "protocol": told.protocol, "fault": told.fault, "placing": told.placing}
        self.failures.add("load", what, seed=self.seed, case=told.number, **about)

    async def _check_conversations(self, places: Places) -> None:
        """Every conversation has the turns that were answered, and no other."""
        listed = (
            {one.name: one.turns for one in await threads(f"sqlite:{self.out / 'asker.sqlite'}")}
            if (self.out / "asker.sqlite").exists()
            else {}
        )
        for door, held in (("conversation", listed), ("serve", await served_turns(places))):
            for number, found in self.outcomes.items():
                told, turns = case(self.seed, number), sum(one["kept"] for one in found)
                if told.door == door and held.get(f"talk-{number}", 0) != turns:
                    came = "; ".join(f"{one['kind']}: {one['text']}" for one in found)
                    self._fail(told, f"the conversation has {held.get(f'talk-{number}', 0)} turns of {turns}: {came}")

    def _check_servers(self) -> None:
        """The servers saw no more calls at once than a process may make, and of each question no more than it may cost."""
        calls: Counter[int] = Counter()
        most: defaultdict[str, int] = defaultdict(int)
        with (self.out / "calls.jsonl").open(encoding="utf-8") as log:
            for line in log:
                entry = json.loads(line)
                calls[entry["case"]] += 1
                most[entry["server"]] = max(most[entry["server"]], entry["busy"])
        for server, busy in most.items():
            if busy > CAP and not server.startswith("command"):
                self.failures.add("load", f"{server}: {busy} calls at once, above {CAP}", seed=self.seed)
        if calls.pop(-1, 0):
            self.failures.add("load", "a call was about no question of the plan", seed=self.seed)
        for number, made in calls.items():
            told = case(self.seed, number)
            allowed = (
                MAX_CALLS if told.door in ("openai", "openai stream", "leave", "mcp http", "mcp stdio") else told.options.get("max_calls")
            )
            allowed = MAX_CALLS if told.door == "serve" and allowed is None else allowed
            if allowed is not None and made > allowed * told.turns:
                self._fail(told, f"{made} calls, above {allowed} a question")
        self.busiest, self.calls = dict(most), sum(calls.values())

    def _check_logs(self) -> None:
        for log in sorted(self.out.glob("*.log")):
            text = log.read_text(encoding="utf-8", errors="replace")
            if TRACEBACK in text:
                at = text.index(TRACEBACK)
                self.failures.add("load", f"{log.name} has a traceback: {text[at : at + 3000]}", seed=self.seed)

    def summary(self) -> list[str]:
        """Return lines about what was asked and what came of it."""
        kinds = Counter(one["kind"] for found in self.outcomes.values() for one in found)
        doors = Counter(case(self.seed, number).door for number in self.outcomes)
        return [
            f"{len(self.asked)} questions in {self.passed():.0f} s, {self.at_once} at once, with {self.calls} model calls: "
            + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()),
            "Doors: " + ", ".join(f"{door} {count}" for door, count in doors.most_common()),
            "Most calls at once: " + ", ".join(f"{server} {busy}" for server, busy in sorted(self.busiest.items())),
        ]


def run(seed: int, minutes: float, at_once: int, out: Path, chosen: Sequence[int] | None, failures: Failures) -> Load:
    """Run the load, of all questions or of those chosen by their numbers, and return it."""
    random.seed(seed)
    load = Load(seed, minutes * 60, at_once, out, chosen, failures)
    asyncio.run(load.run())
    return load
