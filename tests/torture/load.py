"""The load: many concurrent questions of the plan through all interfaces, against faulty model servers; then the invariants are checked."""

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

from ramify.graphs.conversation import load_threads
from ramify.studio.cli import run as command_line
from tests.river import TEXTS
from tests.studio.dev_server import free_port
from tests.torture.interfaces import RAMIFY, Endpoints, ask_by_interface, list_turns, model_options
from tests.torture.outcome import TRACEBACK, Outcome, make_outcome
from tests.torture.plan import INTERFACE_WEIGHTS, MAX_CALLS_PER_QUESTION, MAX_CONCURRENT_CALLS, Case, draw_case, draw_server_settings
from tests.torture.processes import ROOT, TIMEOUT_S, MonitoredProcess, find_child, start_process
from tests.torture.report import Failures

SETTINGS = (
    "--set",
    f"max_calls={MAX_CALLS_PER_QUESTION}",
    "--set",
    "timeout=3",
    "--set",
    "check=none",
    "--set",
    f"max_concurrency={MAX_CONCURRENT_CALLS}",
)
ASKER_INTERFACES = ("python", "tool", "conversation")
NO_CERTIFICATES = str(ROOT / "tests" / "files" / "nobody.pem")
"""An empty file of trusted certificates; otherwise each client would load all of the machine."""
SAMPLES_PER_PROCESS = 300
"""Number of measurements of each process in a run."""


class Load:
    """A run of the load."""

    def __init__(self, seed: int, seconds: float, at_once: int, out: Path, chosen: Sequence[int] | None, failures: Failures) -> None:
        self.seed, self.seconds, self.at_once, self.out, self.failures = seed, seconds, at_once, out, failures
        self.numbers = iter(range(10**9) if chosen is None else chosen)
        self.interfaces = set(INTERFACE_WEIGHTS) if chosen is None else {draw_case(seed, number).interface for number in chosen}
        self.started_at = time.monotonic()
        self.asked: set[int] = set()
        self.outcomes: dict[int, list[Outcome]] = {}
        self.monitored: list[MonitoredProcess] = []
        self.replies: dict[int, asyncio.Future[list[Outcome]]] = {}

    def elapsed(self) -> float:
        """Return the seconds since the first question."""
        return time.monotonic() - self.started_at

    async def run(self) -> None:
        """Start all processes, ask until the time is over, and check the invariants."""
        async with AsyncExitStack() as stack:
            endpoints, asker = await self._prepare(stack)
            listening = asyncio.create_task(self._listen(asker))
            measuring = asyncio.create_task(self._measure())
            self.started_at = time.monotonic()
            workers = [asyncio.create_task(self._work(endpoints, asker)) for _ in range(self.at_once)]
            await self._until_ended(workers)
            measuring.cancel()
            for process in self.monitored:
                process.measure(self.elapsed())  # after the last question
            asker.stdin.close()
            await listening
            await asker.wait()
            self._check_outcomes()
            await self._check_conversations(endpoints)
        self._check_servers()
        self._check_logs()
        for process in self.monitored:
            for growth in process.growth_messages():
                self.failures.add("load", growth, seed=self.seed)

    async def _until_ended(self, workers: list[asyncio.Task[None]]) -> None:
        """Wait for the workers; cancel them when the time is over and no question has ended for long."""
        ended = -1
        while ended < len(self.outcomes) or self.elapsed() < self.seconds:
            ended = len(self.outcomes)
            _, late = await asyncio.wait(workers, timeout=TIMEOUT_S)
            if not late:
                return
        for one in late:
            one.cancel()
        await asyncio.wait(late)

    async def _prepare(self, stack: AsyncExitStack) -> tuple[Endpoints, Any]:
        index = await self._index()
        names = [f"{interface} {protocol}" for interface in ("asker", "command") for protocol in ("ollama", "openai")]
        server_names = [f"{interface} {draw_server_settings(self.seed, interface)[0]}" for interface in ("serve", "http", "stdio")]
        quiet = {"RAMIFY_CACHE": str(self.out / "cache"), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "SSL_CERT_FILE": NO_CERTIFICATES}
        model = [sys.executable, "-m", "tests.torture.model_server", str(self.seed), str(self.out / "calls.jsonl"), *names, *server_names]
        server = await self._start(stack, "model server", model, quiet, watch=False)
        addresses = json.loads(await server.stdout.readline())
        where = [addresses["asker ollama"], addresses["asker openai"]]
        memory = f"sqlite:{self.out / 'asker.sqlite'}"
        asking = [sys.executable, "-m", "tests.torture.asker", str(self.seed), index, memory, *where]
        asker = await self._start(stack, "asker", asking, quiet)
        serve, http, stdio = (self._command(interface, addresses, index) for interface in ("serve", "http", "stdio"))
        port, other = free_port(), free_port()
        keeping = ["--memory", f"sqlite:{self.out / 'serve.sqlite'}", "--at-once", "32", "--port", str(port)]
        await self._start(stack, "serve", [RAMIFY, "serve", *serve, *keeping], quiet)
        if "mcp http" in self.interfaces:
            await self._start(stack, "mcp http", [RAMIFY, "mcp", "--http", "--port", str(other), *http], quiet)
        client = await stack.enter_async_context(
            httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False, limits=httpx.Limits(max_connections=None, keepalive_expiry=2))
        )
        await self._until_listening(port)
        by_http = by_stdio = None
        if "mcp http" in self.interfaces:
            await self._until_listening(other)
            by_http = await stack.enter_async_context(Client(f"http://127.0.0.1:{other}/mcp"))
        if "mcp stdio" in self.interfaces:
            by_stdio = await self._by_stdio(stack, stdio, quiet)
        endpoints = Endpoints(index, f"http://127.0.0.1:{port}", by_http, by_stdio, addresses, quiet, asyncio.Semaphore(2), client)
        return endpoints, asker

    async def _by_stdio(self, stack: AsyncExitStack, options: list[str], environment: dict[str, str]) -> ClientSession:
        errors = stack.enter_context((self.out / "mcp-stdio.log").open("w"))
        parameters = StdioServerParameters(command=RAMIFY, args=["mcp", *options], env=environment, cwd=ROOT)
        streams = await stack.enter_async_context(stdio_client(parameters, errlog=errors))
        session = await stack.enter_async_context(ClientSession(*streams))
        await session.initialize()
        self.monitored.append(MonitoredProcess("mcp stdio", find_child("mcp --model")))
        return session

    def _command(self, interface: str, addresses: dict[str, str], index: str) -> list[str]:
        protocol, strategy = draw_server_settings(self.seed, interface)
        return [*model_options(protocol, addresses[f"{interface} {protocol}"]), "--strategy", strategy, "--index", index, *SETTINGS]

    async def _index(self) -> str:
        documents, index = self.out / "documents", self.out / "river"
        documents.mkdir()
        for number, text in enumerate(TEXTS):
            (documents / f"{number}.txt").write_text(text, encoding="utf-8")
        if await asyncio.to_thread(command_line, ["index", str(documents), "--out", str(index), "--kind", "graph"]) != 0:
            raise RuntimeError("the index could not be made")
        return str(index)

    async def _start(self, stack: AsyncExitStack, name: str, command: list[str], environment: dict[str, str], watch: bool = True) -> Any:
        process = await start_process(name, command, self.out, environment)

        async def end() -> None:
            if process.returncode is None:
                process.terminate()
                await process.wait()

        stack.push_async_callback(end)
        if watch:
            self.monitored.append(MonitoredProcess(name, process.pid))
        return process

    async def _until_listening(self, port: int) -> None:
        for _ in range(int(TIMEOUT_S * 2)):
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
            for process in self.monitored:
                process.measure(self.elapsed())
            await asyncio.sleep(max(0.5, self.seconds / SAMPLES_PER_PROCESS))

    async def _listen(self, asker: Any) -> None:
        """Read the outcomes that the asker writes, until its end."""
        while line := await asker.stdout.readline():
            case = json.loads(line)
            waiting = self.replies.pop(case["case"], None)
            if waiting is None:
                self.failures.add("load", f"case {case['case']} was answered twice", seed=self.seed, case=case["case"])
            elif not waiting.done():
                waiting.set_result(case["outcomes"])
        for number, waiting in self.replies.items():
            if not waiting.done():
                waiting.set_result([make_outcome("broken", f"the process ended before case {number} did")])

    async def _work(self, endpoints: Endpoints, asker: Any) -> None:
        """Ask one question after another until the time is over."""
        for number in self.numbers:
            if self.elapsed() > self.seconds:
                return
            case = draw_case(self.seed, number)
            self.asked.add(number)
            try:
                if case.interface in ASKER_INTERFACES:
                    waiting = self.replies[number] = asyncio.get_running_loop().create_future()
                    asker.stdin.write(f"{number}\n".encode())
                    outcomes = await waiting
                else:
                    outcomes = await ask_by_interface(case, endpoints)
            except (httpx.HTTPError, OSError, ValueError, KeyError) as error:
                outcomes = [make_outcome("broken", f"{type(error).__name__}: {error}")]
            self.outcomes[number] = outcomes
            if len(self.outcomes) % 500 == 0:
                print(f"  {self.elapsed():6.0f} s  {len(self.outcomes)} questions ended", flush=True)

    def _check_outcomes(self) -> None:
        for number in sorted(self.asked):
            case = draw_case(self.seed, number)
            outcomes = self.outcomes.get(number, [])
            if len(outcomes) != case.turns and not any(one["kind"] == "broken" for one in outcomes):
                self._fail(case, f"{len(outcomes)} of {case.turns} turns came to an end")
            for one in outcomes:
                if one["kind"] == "broken":
                    self._fail(case, one["text"])

    def _fail(self, case: Case, what: str) -> None:
        about = {
            "interface": case.interface,
            "strategy": case.strategy,
            "protocol": case.protocol,
            "fault": case.fault,
            "placing": case.placing,
        }
        self.failures.add("load", what, seed=self.seed, case=case.number, **about)

    async def _check_conversations(self, endpoints: Endpoints) -> None:
        """Every conversation has the turns that were answered, and no other."""
        listed = (
            {one.name: one.turns for one in await load_threads(f"sqlite:{self.out / 'asker.sqlite'}")}
            if (self.out / "asker.sqlite").exists()
            else {}
        )
        for interface, turns_by_name in (("conversation", listed), ("serve", await list_turns(endpoints))):
            for number, outcomes in self.outcomes.items():
                case, turns = draw_case(self.seed, number), sum(one["stored"] for one in outcomes)
                if case.interface == interface and turns_by_name.get(f"talk-{number}", 0) != turns:
                    came = "; ".join(f"{one['kind']}: {one['text']}" for one in outcomes)
                    self._fail(case, f"the conversation has {turns_by_name.get(f'talk-{number}', 0)} turns of {turns}: {came}")

    def _check_servers(self) -> None:
        """Check the servers' logs: concurrent calls of each process, and calls of each question, are within their limits."""
        calls: Counter[int] = Counter()
        max_busy: defaultdict[str, int] = defaultdict(int)
        with (self.out / "calls.jsonl").open(encoding="utf-8") as log:
            for line in log:
                entry = json.loads(line)
                calls[entry["case"]] += 1
                max_busy[entry["server"]] = max(max_busy[entry["server"]], entry["busy"])
        for server, busy in max_busy.items():
            if busy > MAX_CONCURRENT_CALLS and not server.startswith("command"):
                self.failures.add("load", f"{server}: {busy} calls at once, above {MAX_CONCURRENT_CALLS}", seed=self.seed)
        if calls.pop(-1, 0):
            self.failures.add("load", "a call was about no question of the plan", seed=self.seed)
        for number, made in calls.items():
            case = draw_case(self.seed, number)
            allowed = (
                MAX_CALLS_PER_QUESTION
                if case.interface in ("openai", "openai stream", "leave", "mcp http", "mcp stdio")
                else case.options.get("max_calls")
            )
            allowed = MAX_CALLS_PER_QUESTION if case.interface == "serve" and allowed is None else allowed
            if allowed is not None and made > allowed * case.turns:
                self._fail(case, f"{made} calls, above {allowed} a question")
        self.busiest, self.calls = dict(max_busy), sum(calls.values())

    def _check_logs(self) -> None:
        for log in sorted(self.out.glob("*.log")):
            text = log.read_text(encoding="utf-8", errors="replace")
            if TRACEBACK in text:
                at = text.index(TRACEBACK)
                self.failures.add("load", f"{log.name} has a traceback: {text[at : at + 3000]}", seed=self.seed)

    def summary(self) -> list[str]:
        """Return lines about the questions and their outcomes."""
        kinds = Counter(one["kind"] for outcomes in self.outcomes.values() for one in outcomes)
        interfaces = Counter(draw_case(self.seed, number).interface for number in self.outcomes)
        return [
            f"{len(self.asked)} questions in {self.elapsed():.0f} s, {self.at_once} at once, with {self.calls} model calls: "
            + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()),
            "Interfaces: " + ", ".join(f"{interface} {count}" for interface, count in interfaces.most_common()),
            "Maximum concurrent calls: " + ", ".join(f"{server} {busy}" for server, busy in sorted(self.busiest.items())),
        ]


def run(seed: int, minutes: float, at_once: int, out: Path, chosen: Sequence[int] | None, failures: Failures) -> Load:
    """Run the load, of all questions or of those chosen by their numbers, and return it."""
    random.seed(seed)
    load = Load(seed, minutes * 60, at_once, out, chosen, failures)
    asyncio.run(load.run())
    return load
