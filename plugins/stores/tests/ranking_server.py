"""A loopback server that reranks by common words, in the protocols of four servers, or as a test says."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from tests.tools.ollama_server import Quiet

Reply = tuple[int, Any]
"""A status, and a body: a text as it is, anything else as JSON. A status of 0 closes the connection instead."""


@dataclass
class RankingServer:
    """What the server was asked, by how many connections, and what it replies."""

    address: str
    reply: Callable[[dict[str, Any]], Reply]
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    clients: set[Any] = field(default_factory=set)
    pause: float = 0.0
    """Seconds between the bytes of a reply."""


def common_words(query: str, text: str) -> float:
    """Return how many words of a text are those of a query."""
    return float(len(set(re.findall(r"\w+", query.casefold())) & set(re.findall(r"\w+", text.casefold()))))


def scores(asked: dict[str, Any], texts: str, name: str) -> list[dict[str, Any]]:
    """Return rows with an index and a score, the best first."""
    rows = [{"index": place, name: common_words(asked["query"], text)} for place, text in enumerate(asked[texts])]
    return sorted(rows, key=lambda row: -float(row[name]))


def llama_cpp(asked: dict[str, Any]) -> Reply:
    """Reply as llama-server; each text has its own place in the window."""
    if too_long := [text for text in asked["documents"] if len(text) > 2000]:
        words = (
            f"input ({len(too_long[0]) // 4} tokens) is too large to process. increase the physical batch size (current batch size: 512)"
        )
        return 500, {"error": {"code": 500, "message": words, "type": "server_error"}}
    return 200, {"model": "m", "object": "list", "usage": {}, "results": scores(asked, "documents", "relevance_score")}


def vllm(asked: dict[str, Any]) -> Reply:
    """Reply as vLLM, with the documents."""
    if any(len(text) > 2000 for text in asked["documents"]):
        words = "This model's maximum context length is 512 tokens. However, your request has 900 input tokens."
        return 400, {"error": {"message": words, "type": "BadRequestError", "param": None, "code": 400}}
    rows = scores(asked, "documents", "relevance_score")
    full = [{**row, "document": {"text": asked["documents"][row["index"]], "multi_modal": None}} for row in rows]
    return 200, {"id": "rerank-1", "model": "m", "usage": {"prompt_tokens": 9, "total_tokens": 9}, "results": full}


def jina(asked: dict[str, Any]) -> Reply:
    """Reply as Jina's service, which wants a model."""
    if "model" not in asked:
        return 422, {"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required"}]}
    return 200, {"model": asked["model"], "usage": {"total_tokens": 9}, "results": scores(asked, "documents", "relevance_score")}


def tei(asked: dict[str, Any]) -> Reply:
    """Reply as text-embeddings-inference, which takes at most 32 `texts`, and cuts long ones if it is told to."""
    if "texts" not in asked:
        return 422, "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 80"
    if len(asked["texts"]) > 32:
        return 413, {"error": f"batch size {len(asked['texts'])} > maximum allowed batch size 32", "error_type": "Validation"}
    if any(len(text) > 2000 for text in asked["texts"]) and not asked.get("truncate"):
        return 413, {"error": "`inputs` must have less than 512 tokens. Given: 900", "error_type": "Validation"}
    return 200, scores(asked, "texts", "score")


PROTOCOLS: Final = {"llama.cpp": llama_cpp, "vllm": vllm, "jina": jina, "tei": tei}


@contextmanager
def ranking(reply: Callable[[dict[str, Any]], Reply]) -> Iterator[RankingServer]:
    """Serve, and keep connections open."""
    listening = Quiet(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server = RankingServer(f"http://127.0.0.1:{listening.server_port}/v1/rerank", reply)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append(asked)
            server.headers.append(dict(self.headers))
            server.clients.add(self.client_address)
            status, said = server.reply(asked)
            if not status:
                self.close_connection = True
                return
            written = (said if isinstance(said, str) else json.dumps(said)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(written)))
            if 300 <= status < 400:
                self.send_header("Location", "http://127.0.0.1:9/")
            self.end_headers()
            if not server.pause:
                self.wfile.write(written)
                return
            for byte in written:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(server.pause)

    listening.RequestHandlerClass = Handler
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
