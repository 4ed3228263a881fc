"""Documents of LangChain's document loaders, in the form that an index takes."""

from collections.abc import Iterator

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from ramify.tools.documents._properties import OURS, clean
from ramify.tools.documents.files import Skipped


def load_documents(loader: BaseLoader, skipped: list[Skipped]) -> Iterator[Document]:
    """Yield a loader's documents that have text, each with an id and a `source`; append those without text to `skipped`.

    Metadata is kept. Fields that the index says itself of each passage (`path`, `pages`, …) are kept as `record_path`, …; the `source` is
    the loader's, else its class's name. What a loader raises is raised here.
    """
    for document in loader.lazy_load():
        kept = {f"record_{name}" if name in OURS else str(name): value for name, value in document.metadata.items()}
        source = clean(str(kept.pop("record_source", "") or "")) or type(loader).__name__
        if not (text := clean(document.page_content).strip()):
            skipped.append((source, "a document without text"))
            continue
        yield Document(text, id=clean(document.id or "") or source, metadata={**kept, "source": source})
