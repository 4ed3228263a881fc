"""What embedding models expect before a text: many are trained with words that tell a question from a passage."""

from fnmatch import fnmatchcase
from typing import NamedTuple


class Prefixes(NamedTuple):
    """What is put before each question and each passage when it is embedded; None: what the model puts there by itself."""

    query: str | None = None
    document: str | None = None

    def or_else(self, others: "Prefixes") -> "Prefixes":
        """Return them with those that are not given taken from others."""
        return Prefixes(*(other if own is None else own for own, other in zip(self, others, strict=True)))

    def told(self) -> dict[str, str]:
        """Return those that are given, by the names under which an index remembers them."""
        named = {"query_prefix": self.query, "document_prefix": self.document}
        return {name: prefix for name, prefix in named.items() if prefix is not None}


class Known(NamedTuple):
    """Models by name (without owner and tag; `*` stands for anything) and the prefixes they are trained with."""

    names: tuple[str, ...]
    query: str
    document: str = ""


_SEARCHING = "Represent this sentence for searching relevant passages: "
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

# From the models' own cards and, where a card leaves it open, from their settings in the MTEB benchmark (2026-08).
# The first line that fits counts.
KNOWN = (
    Known(("nomic-embed-text*",), "search_query: ", "search_document: "),
    Known(("mxbai-embed-large*",), _SEARCHING),
    Known(("snowflake-arctic-embed2*", "snowflake-arctic-embed-*-v2.0*"), "query: "),
    Known(("snowflake-arctic-embed*",), _SEARCHING),
    Known(("bge-large", "bge-small-en*", "bge-base-en*", "bge-large-en*"), _SEARCHING),
    Known(("bge-small-zh*", "bge-base-zh*", "bge-large-zh*"), "为这个句子生成表示以用于检索相关文章："),
    Known(("multilingual-e5-large-instruct*", "e5-mistral-7b-instruct*"), _INSTRUCT + " "),
    Known(tuple(f"{kind}e5-{size}*" for kind in ("", "multilingual-") for size in ("small", "base", "large")), "query: ", "passage: "),
    Known(("qwen3-embedding*",), _INSTRUCT),
    Known(("embeddinggemma*",), "task: search result | query: ", "title: none | text: "),
    Known(("bge-m3*", "granite-embedding*", "all-minilm*", "paraphrase-multilingual*"), ""),
)


def known_prefixes(name: str) -> Prefixes:
    """Return the prefixes a model is trained with, by its name at any provider; empty ones where none are known."""
    bare = name.removeprefix("ollama:").replace("\\", "/").rstrip("/").rpartition("/")[2].partition(":")[0].casefold()
    found = (Prefixes(known.query, known.document) for known in KNOWN if any(fnmatchcase(bare, pattern) for pattern in known.names))
    return next(found, Prefixes("", ""))
