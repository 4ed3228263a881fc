"""An encoder that puts prefixes before what it encodes."""

from collections.abc import Sequence

from ramify.tools.embeddings.encoder import Encoder, Matrix, Offsets
from ramify.tools.embeddings.prefixes import Prefixes, known_prefixes
from ramify.tools.errors import UsageError


class Prefixed(Encoder):
    """Another encoder with prefixes; passages are measured so that the prefix fits in beside them."""

    def __init__(self, encoder: Encoder, prefixes: Prefixes) -> None:
        self.encoder = encoder
        self.name = encoder.name
        self.prefixes = prefixes

    @property
    def max_tokens(self) -> int:  # type: ignore[override]  # an attribute of the base, here the rest of another's
        """Return the longest text the model sees, special tokens and the prefix not counted."""
        return max(1, self.encoder.max_tokens - self.encoder.count_tokens(self.prefixes.document or ""))

    @property
    def own_prefixes(self) -> Prefixes:
        """Return what the model itself puts before a text."""
        return self.encoder.own_prefixes

    @property
    def loaded(self) -> bool:
        """Tell whether it can encode at once."""
        return self.encoder.loaded

    def load(self) -> None:
        """Bring into memory what encoding needs."""
        self.encoder.load()

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return self.encoder.dimension

    def encode_documents(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode texts, each after the prefix of passages."""
        return self.encoder.encode_documents(texts, self.prefixes.document if prefix is None else prefix)

    def encode_queries(self, texts: Sequence[str], prefix: str | None = None) -> Matrix:
        """Encode questions, each after the prefix of questions."""
        return self.encoder.encode_queries(texts, self.prefixes.query if prefix is None else prefix)

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return where each token of each text starts and ends, prefix apart."""
        return self.encoder.offsets(texts)


def with_prefixes(encoder: Encoder, prefixes: Prefixes) -> Encoder:
    """Return the encoder with these prefixes in place of those it had; with none given, as the model is by itself."""
    plain = encoder.encoder if isinstance(encoder, Prefixed) else encoder
    return Prefixed(plain, prefixes) if prefixes != Prefixes() else plain


def prefixed(encoder: Encoder, query: str | None, document: str | None) -> Encoder:
    """Return the encoder with the prefixes that are given in place of those it had ("" is one, too); UsageError for one too long."""
    if document and (taken := encoder.count_tokens(document)) > encoder.max_tokens // 2:
        raise UsageError(f"a document prefix of {taken} tokens leaves passages no room in {encoder.max_tokens}", "give a shorter one")
    return with_prefixes(encoder, Prefixes(query, document).or_else(encoder.prefixes))


def settled_prefixes(encoder: Encoder) -> Prefixes:
    """Settle what a new index is made with: the prefixes given, else the model's own, else those it is known to be trained with."""
    if None not in encoder.prefixes:
        return encoder.prefixes
    own = encoder.own_prefixes
    return encoder.prefixes.or_else(own if any(own) else known_prefixes(encoder.name))


def advice(encoder: Encoder) -> str | None:
    """Say that an index was made without its model's prefixes, before these were known; None where that is not so."""
    if encoder.prefixes != Prefixes() or not any(known_prefixes(encoder.name)) or any(encoder.own_prefixes):
        return None
    remedy = "index again into another --out folder to use them, or into this one with --query-prefix '' --document-prefix '' to go without"
    return f"the index is made without the prefixes that {encoder.name!r} is trained with — {remedy}"
