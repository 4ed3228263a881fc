"""Rerank passages at a server: llama.cpp, vLLM, Jina or Cohere (`documents`), or text-embeddings-inference (`texts`).

The address is the full one of the endpoint, with the model before it where the server wants one: `MODEL@http://HOST:PORT/v1/rerank`.
"""

import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import httpx

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.models.server_info import MAX_ANSWER_BYTES, Response
from ramify.tools.models.servers import RETRY_PAUSES_S
from ramify.tools.quoting import truncate_line
from ramify.tools.scrub import mask_address, mask_logs, register_address, scrub
from ramify.tools.server_address import is_loopback, is_server_address

KEY_VARIABLE = "RERANK_API_KEY"
"""The environment variable with the server's key, if it wants one."""
TIMEOUT_S = 120.0
"""Seconds for the reply to one request: as long as for a call of a model by default."""
MAX_BATCH = 32
"""Texts in one request: the most that text-embeddings-inference takes by default."""
MAX_CHARS = 20_000
"""Longer texts are cut before they are sent."""
MIN_CHARS = 200
"""To this length, texts are cut for a server whose window they do not fit into."""
MAX_WORDS_CHARS = 300
"""Characters shown of a server's error."""
_NAME = re.compile(r"(?:(?P<model>\S+?)@)?(?P<url>https?://\S+)")
_OVERLONG = re.compile(r"too (?:large|long)|context (?:length|size)|less than \d+ tokens|max\w* (?:\w+ )?(?:length|tokens)", re.IGNORECASE)
"""Words with which servers refuse a text that does not fit into their window."""
_REFUSED, _BUSY = (400, 413, 422, 500), (429, 502, 503, 504)
_LOST = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
"""Errors of a connection, such as a kept one that the server has closed."""
_FINITE = 1e300
_PROBE = ("Who wrote it?", ["Ann wrote it.", "It rained."])


@lru_cache(maxsize=16)
def reranker_at(name: str) -> "RerankServer":
    """Return the reranker of a name, with the connections that it keeps; UsageError if it is not an address."""
    return RerankServer(name)


class RerankServer:
    """A reranker at an address. Nothing is sent before it is loaded or asked."""

    def __init__(self, name: str) -> None:
        match = _NAME.fullmatch(name.strip())
        if match is None or not is_server_address(match["url"]):
            remedy = "write it as http://127.0.0.1:8080/v1/rerank, or as MODEL@http://… for a server that wants a model"
            raise UsageError(f"the reranker {mask_address(name)!r} is not an address", remedy)
        self._url, self._model = match["url"], match["model"]
        register_address(self._url)
        masked = mask_address(self._url)
        self.label = f"the reranker {self._model} at {masked}" if self._model else f"the reranker at {masked}"
        self._takes_texts = False
        """Whether the server has refused `documents` and asked for `texts`."""
        self._answered = False
        self._client: httpx.Client | None = None
        self._connecting = threading.Lock()

    def load(self) -> float:
        """Rank two short texts once; return the seconds taken, 0 if the server has answered before. ModelError if it does not."""
        if self._answered:
            return 0.0
        began = time.perf_counter()
        self.rank_values(*_PROBE)
        return time.perf_counter() - began

    def rank_values(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the server's scores of texts for a query, higher is better; ModelError if it gives none for one of them."""
        batches = (texts[start : start + MAX_BATCH] for start in range(0, len(texts), MAX_BATCH))
        return [value for batch in batches for value in self._rank_batch(query, [text[:MAX_CHARS] for text in batch])]

    def _rank_batch(self, query: str, texts: list[str]) -> list[float]:
        """Return the scores of one batch; a text too long for the server's window is halved until it fits."""
        while True:
            response = self._post(query, texts)
            if 200 <= response.status < 300:
                values = self._read_values(response.body, len(texts))
                self._answered = True
                return values
            words, longest = _words(response.body), max(map(len, texts))
            if response.status in _REFUSED and not self._takes_texts and re.search(r"\btexts\b", words):
                self._takes_texts = True
            elif response.status in _REFUSED and _OVERLONG.search(words) and longest > MIN_CHARS:
                texts = [text[: max(MIN_CHARS, longest // 2)] for text in texts]
            else:
                raise self._refusal(response.status, words)

    def _post(self, query: str, texts: Sequence[str]) -> Response:
        """Return the server's answer to one request, repeated while it is busy or a kept connection is lost."""
        shape = {"texts": texts, "truncate": True, "raw_scores": True} if self._takes_texts else {"documents": texts}
        payload = {"query": query, **shape, **({"model": self._model} if self._model else {})}
        with self._explained():
            for pause in RETRY_PAUSES_S:
                with suppress(*_LOST):
                    if (response := self._send(payload)).status not in _BUSY:
                        return response
                time.sleep(pause)
            return self._send(payload)

    def _send(self, payload: Mapping[str, Any]) -> Response:
        deadline, read = time.monotonic() + TIMEOUT_S, bytearray()
        with self._connect().stream("POST", self._url, content=json.dumps(payload), headers=self._headers()) as reply:
            for part in reply.iter_bytes():
                read += part
                if len(read) > MAX_ANSWER_BYTES:
                    raise ModelError(f"{self.label} gave a reply of more than {MAX_ANSWER_BYTES >> 20} MiB", _CHECK_ADDRESS)
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("the reply is not complete in time")
        try:
            return Response(reply.status_code, json.loads(read))
        except (ValueError, RecursionError):
            return Response(reply.status_code, read.decode(errors="replace"))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise ModelError for the client's errors, without their traceback, which may show a key."""
        try:
            yield
        except httpx.ConnectError:
            raise ModelError(f"{self.label} cannot be reached", "start its server, check the address, or use reader or none") from None
        except httpx.TimeoutException:
            what = f"{self.label} gave no reply within {TIMEOUT_S:g} s"
            raise ModelError(what, "lower rerank_k, or give the server a faster machine or a smaller model") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            words = truncate_line(scrub(f"{type(error).__name__}: {error}"), MAX_WORDS_CHARS)
            raise ModelError(f"{self.label} broke off ({words})", "look into its log, or use reader or none") from None

    def _connect(self) -> httpx.Client:
        with self._connecting:
            if self._client is None:
                # Reading certificates takes longer than a request; redirections are not followed: passages go to the named server only.
                secure, proxied = self._url.startswith("https:"), not is_loopback(self._url)
                self._client = httpx.Client(timeout=TIMEOUT_S, trust_env=proxied, verify=secure, follow_redirects=False)
                mask_logs()
            return self._client

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(KEY_VARIABLE, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise ModelError(f"the key in {KEY_VARIABLE} has characters that cannot be sent", f"set {KEY_VARIABLE} to a valid key")
        return {"Content-Type": "application/json", "Accept-Encoding": "identity", **({"Authorization": f"Bearer {key}"} if key else {})}

    def _read_values(self, body: Any, wanted: int) -> list[float]:
        """Return the scores in the order of the texts; ModelError unless each text has exactly one finite score."""
        rows = body.get("results") if isinstance(body, dict) else body
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ModelError(f"{self.label} does not answer as a reranker does: {_quoted(body)}", _CHECK_ADDRESS)
        values: dict[int, float] = {}
        for row in rows:
            place, value = row.get("index"), row.get("relevance_score", row.get("score"))
            if type(place) is not int or not 0 <= place < wanted or place in values:
                raise ModelError(f"{self.label} ranks no text or a text twice: index {_quoted(place)} of {wanted} texts", _CHECK_SERVER)
            if type(value) not in (int, float) or not -_FINITE < value < _FINITE:
                raise ModelError(f"{self.label} gives a text a score that is no number: {_quoted(value)}", _CHECK_MODEL)
            values[place] = float(value)
        if missing := [place for place in range(wanted) if place not in values]:
            what = f"{self.label} gives {len(missing)} of {wanted} texts no score, the first at index {missing[0]}"
            raise ModelError(what, _CHECK_SERVER)
        return [values[place] for place in range(wanted)]

    def _refusal(self, status: int, words: str) -> ModelError:
        if status in (401, 403):  # its message may quote the key
            return ModelError(f"{self.label} refuses access (status {status})", f"set {KEY_VARIABLE} to a valid key")
        if 300 <= status < 400:
            return ModelError(f"{self.label} redirects (status {status})", "name the address that it redirects to, if you trust that one")
        what = f"{self.label} reports (status {status}): {_quoted(words)}"
        if status == 404:
            return ModelError(what, _CHECK_ADDRESS)
        if status in _BUSY:
            return ModelError(f"{what}, also on a retry", "try again later")
        return ModelError(what, "shorten the question" if _OVERLONG.search(words) else _CHECK_SERVER)


_CHECK_ADDRESS = "name the full address, as http://127.0.0.1:8080/v1/rerank, and the model before it as MODEL@http://… where it wants one"
_CHECK_SERVER = "look into the server's log, and check that it serves a reranker (llama-server --reranking)"
_CHECK_MODEL = "check that its model is a reranker: other models give no scores"


def _words(body: Any) -> str:
    """Return what a server says of an error: its message, in the forms of these servers, or all of its reply."""
    for name in ("error", "message", "detail"):
        if isinstance(body, dict) and body.get(name):
            body = body[name]
    return body if isinstance(body, str) else json.dumps(body)


def _quoted(body: Any) -> str:
    return repr(truncate_line(scrub(body if isinstance(body, str) else json.dumps(body)), MAX_WORDS_CHARS))
