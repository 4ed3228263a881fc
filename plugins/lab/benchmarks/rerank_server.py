"""Serve a reranker on the loopback interface, to measure `rerank=http://…` with: no published cross-encoder is installed with ramify.

    python plugins/lab/benchmarks/rerank_server.py relevance|reader|NAME [--port 8090] [--threads 1]
    python plugins/lab/benchmarks/rerank_server.py --time [--limit 10]
    ramify eval … --retrieval-only --sweep rerank=reader,http://127.0.0.1:8090/v1/rerank

`relevance` is the relevance head of the embedded reader on its encoder, written as a GGUF file and served by llama.cpp. It differs from the
reader: llama.cpp has no second segment, so question and passage have the same; the probability of an answer and the rank in the search,
which `rerank=reader` adds, do not count. `reader` is all that `rerank=reader` computes, so the difference is the way by HTTP. NAME is a
language model of `ramify download`, asked whether a passage helps: the score is the log odds of yes.

`--time` prints what a passage of the demo costs in this process and by HTTP, in processor time: the least of three, ten passages a
question. `nothing` is a server that computes nothing.
"""

import argparse
import json
import math
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any

import gguf
import numpy as np
import xllamacpp

from ramify.embedded.reader.reading import SMALL, read_context
from ramify.embedded.relevance import rank_values
from ramify.stores.rerank_server import reranker_at
from ramify.tools.embeddings.bert import Shape
from ramify.tools.embeddings.pretrained import minilm_folder
from ramify.tools.models.gguf import find_gguf

SPECIAL = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
BLOCK = {
    "attn_q": "attention.self.query",
    "attn_k": "attention.self.key",
    "attn_v": "attention.self.value",
    "attn_output": "attention.output.dense",
    "attn_output_norm": "attention.output.LayerNorm",
    "ffn_up": "intermediate.dense",
    "ffn_down": "output.dense",
    "layer_output_norm": "output.LayerNorm",
}
"""The parts of a layer: llama.cpp's names, and those of published checkpoints."""
PROMPT = (
    "<|im_start|>system\nYou judge whether a passage helps to answer a question. Reply yes or no.<|im_end|>\n<|im_start|>user\n"
    "Question: {query}\n\nPassage: {text}\n\nDoes the passage tell something that is needed to answer the question?<|im_end|>\n"
    "<|im_start|>assistant\n"
)
PASSAGES = 10
LEAST_LOGPROB = -20.0
"""Stands for a token that is not among the likeliest."""


def write_relevance(path: Path) -> None:
    """Write the reader's encoder and relevance head as a GGUF file of the architecture that llama.cpp reranks with."""
    shape = Shape()
    writer = gguf.GGUFWriter(str(path), "bert")
    writer.add_context_length(shape.positions)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_layer_norm_eps(shape.epsilon)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.RANK)
    _add_vocabulary(writer, (minilm_folder() / "vocab.txt").read_text(encoding="utf-8").splitlines())
    names = {"token_embd.weight": "word_embeddings.weight", "position_embd.weight": "position_embeddings.weight"}
    names |= {"token_types.weight": "token_type_embeddings.weight"}
    names |= {f"token_embd_norm.{kind}": f"LayerNorm.{kind}" for kind in ("weight", "bias")}
    names = {name: f"encoder.embeddings.{known}" for name, known in names.items()}
    for kind in ("weight", "bias"):
        names |= {f"cls.{kind}": f"relevance.0.{kind}", f"cls.output.{kind}": f"relevance.2.{kind}"}
        for layer in range(shape.layers):
            names |= {f"blk.{layer}.{part}.{kind}": f"encoder.encoder.layer.{layer}.{known}.{kind}" for part, known in BLOCK.items()}
    weights = SMALL.load().state_dict()
    for name, known in names.items():
        writer.add_tensor(name, np.ascontiguousarray(weights[known].float().cpu().numpy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_vocabulary(writer: gguf.GGUFWriter, pieces: Sequence[str]) -> None:
    """Add word pieces as llama.cpp writes them: a mark before those that begin a word, instead of one before the others."""
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece if piece in SPECIAL else piece[2:] if piece.startswith("##") else f"\u2581{piece}" for piece in pieces])
    writer.add_token_types([gguf.TokenType.CONTROL if piece in SPECIAL else gguf.TokenType.NORMAL for piece in pieces])
    writer.add_token_type_count(Shape().types)
    writer.add_vocab_size(len(pieces))
    writer.add_bos_token_id(SPECIAL["[CLS]"])
    writer.add_eos_token_id(SPECIAL["[SEP]"])
    writer.add_sep_token_id(SPECIAL["[SEP]"])
    writer.add_unk_token_id(SPECIAL["[UNK]"])
    writer.add_pad_token_id(SPECIAL["[PAD]"])
    writer.add_mask_token_id(SPECIAL["[MASK]"])
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)  # [CLS] question [SEP] passage [SEP]
    writer.add_add_sep_token(False)


def start_llama(path: Path, port: int = 0, threads: int = 1, ranks: bool = True) -> xllamacpp.Server:
    """Start llama.cpp's server with a reranker, or with a language model."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.port, parameters.n_parallel = str(path), port, 1
    parameters.warmup, parameters.verbosity = False, -1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    if ranks:
        parameters.embedding, parameters.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = Shape().positions
    else:
        parameters.n_ctx = 2048
    return xllamacpp.Server(parameters)


def ask_model(name: str, threads: int) -> Callable[[str, Sequence[str]], list[float]]:
    """Return a function that ranks texts by a language model's log odds of yes."""
    path, _ = find_gguf(name)
    server = start_llama(path, threads=threads, ranks=False)
    asking = threading.Lock()

    def log_odds(query: str, text: str) -> float:
        asked = {"prompt": PROMPT.format(query=query, text=text), "max_tokens": 1, "logprobs": 20, "temperature": 0.0}
        [place] = server.handle_completions(asked)["choices"][0]["logprobs"]["content"]
        likely = {"yes": 0.0, "no": 0.0}
        for token in place["top_logprobs"]:
            if (word := token["token"].strip().casefold()) in likely:
                likely[word] += math.exp(token["logprob"])
        return math.log(max(likely["yes"], math.exp(LEAST_LOGPROB))) - math.log(max(likely["no"], math.exp(LEAST_LOGPROB)))

    def values(query: str, texts: Sequence[str]) -> list[float]:
        with asking:
            return [log_odds(query, text) for text in texts]

    return values


def serve(values: Callable[[str, Sequence[str]], list[float]], port: int) -> ThreadingHTTPServer:
    """Return a server, not started yet, that ranks documents by a function."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            ranked = [{"index": place, "relevance_score": value} for place, value in enumerate(values(asked["query"], asked["documents"]))]
            written = json.dumps({"results": sorted(ranked, key=_negative_score)}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def _negative_score(row: dict[str, Any]) -> float:
    return -float(row["relevance_score"])


def measure(limit: int, threads: int) -> None:
    """Print the processor time a passage that each reranker takes for questions of the demo and as many passages as are reranked."""
    texts, questions = _demo("corpus.jsonl", "text"), _demo("questions.jsonl", "question")[:limit]
    asked = [(question, [texts[(n + place) % len(texts)] for place in range(PASSAGES)]) for n, question in enumerate(questions)]
    with tempfile.TemporaryDirectory() as folder:
        write_relevance(Path(folder) / "relevance.gguf")
        llama = start_llama(Path(folder) / "relevance.gguf", threads=threads)
        ways: dict[str, Callable[[str, Sequence[str]], list[float]]] = {"reader, in this process": rank_values}
        for name, values in {"reader, by HTTP": rank_values, "nothing, by HTTP": lambda query, texts: [0.0] * len(texts)}.items():
            server = serve(values, 0)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            ways[name] = reranker_at(f"http://127.0.0.1:{server.server_port}/v1/rerank").rank_values
        ways["relevance, by HTTP (llama.cpp)"] = reranker_at(f"{llama.listening_address}/v1/rerank").rank_values
        for name, rank in ways.items():
            rank(*asked[0])  # loads it
            print(f"{name:32}{1000 / PASSAGES * fmean(_seconds(rank, *pair) for pair in asked):8.1f} ms of a core a passage", flush=True)


def _demo(file: str, field: str) -> list[str]:
    return [json.loads(line)[field] for line in (files("ramify.tools.demo") / file).read_text(encoding="utf-8").splitlines()]


def _seconds(rank: Callable[[str, Sequence[str]], list[float]], query: str, texts: Sequence[str]) -> float:
    """Return the least processor time of three: server and client are in this process, and other work on the machine does not count."""
    times = []
    for _ in range(3):
        read_context.cache_clear()
        began = time.process_time()
        rank(query, texts)
        times.append(time.process_time() - began)
    return min(times)


def main(arguments: Sequence[str]) -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="relevance", help="relevance, reader, or a language model of `ramify download`")
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--limit", type=int, default=10)
    options = parser.parse_args(arguments)
    if options.time:
        measure(options.limit, options.threads)
        return
    address = f"http://127.0.0.1:{options.port}/v1/rerank"
    if options.model == "relevance":
        with tempfile.TemporaryDirectory() as folder:
            write_relevance(Path(folder) / "relevance.gguf")
            llama = start_llama(Path(folder) / "relevance.gguf", options.port, options.threads)
            print(f"{llama.listening_address}/v1/rerank", flush=True)
            threading.Event().wait()
    served = serve(rank_values if options.model == "reader" else ask_model(options.model, options.threads), options.port)
    print(address, flush=True)
    served.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
