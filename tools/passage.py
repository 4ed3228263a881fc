"""A passage: a piece of a document, from the search of an index to the citation of an answer."""

from typing import Any, Self

from langchain_core.documents import Document
from pydantic import BaseModel, ConfigDict, Field

from ramify.tools.versions import VersionedText, document_version


class Passage(BaseModel):
    """A piece of a document, as a search or an index returns it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    text: str
    source: str
    score: float
    """Cosine similarity to the question that found it, always."""
    value: float = 0.0
    """Its MMR value when it was selected; the cosine similarity without MMR; the sum of its reciprocal ranks from several indexes."""
    collection: str = ""
    """The name of the index it is from, where several are searched; its id begins with it."""
    metadata: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def from_document(cls, document: Document, score: float = 0.0, value: float = 0.0) -> Self:
        """Return a document of an index or of LangChain's as a passage; its source is its id if it has none."""
        metadata = dict(document.metadata)
        source = str(metadata.pop("source", document.id))
        return cls(id=str(document.id), text=document.page_content, source=source, score=score, value=value, metadata=metadata)

    @property
    def title(self) -> str:
        """Return the title of its document."""
        return str(self.metadata.get("title", ""))

    @property
    def heading(self) -> str:
        """Return the headings above it, the outermost first; empty if it has parts under several."""
        return "" if self.metadata.get("headings_within") else str(self.metadata.get("heading") or "")

    @property
    def version(self) -> str:
        """Return the date and the version number that its document states; empty if there are none."""
        return document_version(self.metadata, self.source)

    def with_version(self) -> VersionedText:
        """Return its text with the version of its document."""
        return VersionedText(self.source, self.title, self.heading, self.text, self.version)

    @property
    def place(self) -> str:
        """Return its source, with the page if it has one."""
        page = self.metadata.get("page")
        return self.source if page is None else f"{self.source}:{page}"

    def to_json(self) -> dict[str, Any]:
        """Return the object that `ramify search --json` prints; with a collection where several are searched."""
        return self.model_dump(mode="json", exclude={"value"} | (set() if self.collection else {"collection"}))

    def __str__(self) -> str:
        return f"{self.title or self.source}: {self.text}"
