"""Check citations and sentences against texts: those in the answer, those of an index, and those of the documents themselves."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from langchain_core.documents import Document

from ramify.embedded.checks.claims import find_fault
from ramify.nodes.tree import Passage, is_unknown
from ramify.nodes.tree.citation import Citation, Sentence, cite, text_sha256, with_marks
from ramify.testing.verifying.answer_file import Answer
from ramify.testing.verifying.checks import Check
from ramify.tools.documents.files import existing_path, list_files
from ramify.tools.documents.load import read_files
from ramify.tools.documents.sections import find_quote
from ramify.tools.errors import UsageError
from ramify.tools.index.index import Index
from ramify.tools.index.index_store import store_at
from ramify.tools.languages import ENGLISH, detect_language
from ramify.tools.quoting import collapse_whitespace
from ramify.tools.reader import Material
from ramify.tools.scrub import MASK
from ramify.tools.supporting_sentence import QuestionAnswer, split_statements

_SHOWN = ("text", "source", "title", "heading", "page")
"""What is shown of a cited passage, and is the same in the index."""
Lookup = Callable[[Sequence[str]], list[Document]]
"""Returns the passages of the ids that exist."""


def open_passages(index: str | Path | Index) -> Lookup:
    """Return a lookup of an index's passages, which needs no encoder; IndexingError if there is no index."""
    return index.get_by_ids if isinstance(index, Index) else store_at(index).open().by_ids


def read_sources(folder: str | Path, citations: Sequence[Citation]) -> dict[str, str]:
    """Return the texts of the cited sources as they are now, read from the files in a folder and in no other; InputError without it."""
    root = existing_path(folder)
    if not root.is_dir():
        raise UsageError(f"{str(folder)!r} is not a folder", "give the folder that was indexed")
    wanted = {citation.source for citation in citations}
    files = (
        file
        for file in list_files([root], [])
        if any(name == file.source or name.startswith((f"{file.source}#", f"{file.source}/")) for name in wanted)
    )
    texts: dict[str, list[str]] = {}
    for read in read_files(files):
        for document in read.documents:
            if (source := str(document.metadata.get("source", ""))) in wanted:
                texts.setdefault(source, []).append(document.page_content)
    return {source: "\n".join(parts) for source, parts in texts.items()}


def stands_in(text: str, quote: str) -> bool:
    """Return whether a quote stands in a text: all of it, or each of its statements, since headings between them are left out."""
    if find_quote(text, quote) is not None:
        return True
    pieces = [unit for part in quote.split("…") for unit in split_statements(part)]
    return bool(pieces) and all(find_quote(text, piece) is not None for piece in pieces)


def check_citation(citation: Citation, where: str, passages: Lookup | None, sources: Mapping[str, str] | None) -> Iterator[Check]:
    """Yield the checks of a citation: its quote, its hash, and its passage and document as they are now."""
    yield _check_quote(citation, where)
    yield _check_hash(citation, where)
    if passages is not None:
        yield _check_passage(citation, where, passages)
    if sources is not None:
        yield _check_document(citation, where, sources)


def _check_quote(citation: Citation, where: str) -> Check:
    if not citation.quote:
        return Check("quote", where, "holds", "nothing is quoted")
    if not stands_in(citation.text, citation.quote):
        return Check("quote", where, "fails", "the quote does not stand in the passage")
    span = (citation.start, citation.end)
    if span not in ((None, None), find_quote(citation.text, citation.quote)):
        return Check("quote", where, "fails", f"the quote does not stand at {citation.start} to {citation.end}")
    return Check("quote", where, "holds", "the quote stands in the passage")


def _check_hash(citation: Citation, where: str) -> Check:
    if not citation.sha256:
        return Check("hash", where, "unchecked", "no hash of the passage was recorded")
    if text_sha256(citation.text) == citation.sha256:
        return Check("hash", where, "holds", "the passage is the one that was cited")
    if MASK in citation.text:
        return Check("hash", where, "unchecked", "a secret in the passage was masked")
    return Check("hash", where, "fails", "the passage has another hash than the one that was cited")


def _check_passage(citation: Citation, where: str, passages: Lookup) -> Check:
    """Check that the index still has the passage, with or without the name of a collection before its id, and what is cited of it."""
    bare = citation.id.removeprefix(f"{citation.collection}:")
    found = {str(document.id): document for document in passages([citation.id, bare])}
    document = found.get(citation.id, found.get(bare))
    if document is None:
        return Check("index", where, "changed", "the document has changed since: its passage is not in the index")
    [now] = cite([Passage.from_document(document)], [citation.quote], cited=True)
    other = [name for name in _SHOWN if getattr(now, name) != getattr(citation, name) and MASK not in str(getattr(citation, name))]
    if other:
        return Check("index", where, "changed", f"the document has changed since: the index has another {other[0]} of its passage")
    return Check("index", where, "holds", "the passage stands in the index")


def _check_document(citation: Citation, where: str, sources: Mapping[str, str]) -> Check:
    text = sources.get(citation.source)
    if text is None:
        return Check("document", where, "changed", "the document has changed since: it is not in the folder, or cannot be read")
    if not stands_in(text, citation.quote or citation.text):
        return Check("document", where, "changed", "the document has changed since: the quote does not stand in it")
    return Check("document", where, "holds", "the quote stands in the document")


def cited_text(citation: Citation) -> str:
    """Return the text of a citation below its title and headings, which say what it is about."""
    return " ".join(filter(None, (citation.title, citation.heading, citation.text)))


def missing_fact(sentence: str, citations: Sequence[Citation], asked: Sequence[QuestionAnswer] = ()) -> tuple[str, str] | None:
    """Return what is wrong with a sentence by its citations and which fact, `missing` if it stands in none; None if nothing is."""
    materials = [Material(" ".join(filter(None, (citation.title, citation.heading))), citation.text) for citation in citations]
    fault = find_fault(sentence, materials, asked, detect_language(sentence) in (ENGLISH, None))
    return None if fault is None else (fault.kind, fault.fact)


def check_sentences(answer: Answer) -> Iterator[Check]:
    """Yield the checks of the answer's text, and of each sentence: its names and numbers stand in what it cites."""
    if answer.sentences:
        same = collapse_whitespace(answer.text) == collapse_whitespace(" ".join(map(with_marks, answer.sentences)))
        yield Check("text", "text", "holds" if same else "fails", "the text is its sentences" if same else "the text is not its sentences")
    known = [branch for branch in answer.tree.values() if branch.known and branch.kind == "question"]
    asked = [QuestionAnswer(answer.question, answer.answer), *(QuestionAnswer(branch.question, branch.answer or "") for branch in known)]
    for number, sentence in enumerate(answer.sentences, 1):
        yield _check_sentence(sentence, f"sentence {number}", answer, asked)


def _check_sentence(sentence: Sentence, where: str, answer: Answer, asked: Sequence[QuestionAnswer]) -> Check:
    cited = [answer.citations[number - 1] for number in sentence.citations if 0 < number <= len(answer.citations)]
    if len(cited) < len(sentence.citations):
        return Check("sentence", where, "fails", "it cites a number that is not among the citations")
    if not cited:
        claims = "nothing: the answer is Unknown" if is_unknown(answer.answer) else "nothing that it says can be looked up"
        return Check("sentence", where, "unchecked", f"it cites nothing, and {claims}")
    fault = None if any(stands_in(citation.text, sentence.text) for citation in cited) else missing_fact(sentence.text, cited, asked)
    if fault is not None and fault[0] == "missing":
        return Check("sentence", where, "fails", f"{fault[1]!r} does not stand in what it cites")
    if fault is not None or sentence.supported is False:
        return Check("sentence", where, "unchecked", "its names and numbers stand in what it cites, but not that they belong together")
    return Check("sentence", where, "holds", "its names and numbers stand in what it cites")
