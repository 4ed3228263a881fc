"""Check an answer for somebody who trusts no model: its citations, its sentences, its branches, and how it follows from them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ramify.graphs.run import Result
from ramify.nodes.tree.citation import Citation, text_sha256
from ramify.testing.verifying.answer_file import Answer, parse_answer
from ramify.testing.verifying.checks import ANSWER, Verification, changed_sources
from ramify.testing.verifying.sources import Lookup, check_citation, check_sentences, open_passages, read_sources
from ramify.testing.verifying.steps import check_branch, check_conclusion, check_question, steps_of
from ramify.tools.index.index import Index


def verify(
    result: Result | Mapping[str, Any], index: str | Path | Index | None = None, documents: str | Path | None = None
) -> Verification:
    """Return the checks of an answer, of which none asks a model.

    index: the index that was searched, to find the cited passages in it. documents: the folder that was indexed, to read its files anew;
    no other file is opened. UsageError for what is no answer, IndexingError or InputError if the index or the folder is missing.
    """
    return verify_answer(parse_answer(result), index, documents)


def verify_answer(answer: Answer, index: str | Path | Index | None = None, documents: str | Path | None = None) -> Verification:
    """Return the checks of an answer that was read; see `verify`."""
    lookup = None if index is None else open_passages(index)
    texts = None if documents is None else read_sources(documents, answer.citations)
    places = {f"citation {number}": citation for number, citation in enumerate(answer.citations, 1)}
    checks = [check for where, citation in places.items() for check in check_citation(citation, where, lookup, texts)]
    changed = changed_sources(checks, {where: citation.source for where, citation in places.items()})
    checks += check_sentences(answer)
    passages = _cited_passages(answer, lookup)
    checks += [check for branch in answer.tree.values() for check in check_branch(answer, branch, passages)]
    steps = steps_of(answer.tree)
    if (conclusion := check_conclusion(answer)) is not None:
        checks += [check_question(answer), conclusion]
        steps.append(ANSWER)
    return Verification(checks, steps, changed)


def _cited_passages(answer: Answer, lookup: Lookup | None) -> dict[str, Citation]:
    """Return the passages that branches cite, by id: those among the citations, and with an index the others, too."""
    known = {citation.id: citation for citation in answer.citations}
    others = [key for path in steps_of(answer.tree) for key in answer.tree[path].cited if key not in known]
    for document in lookup(others) if lookup is not None and others else []:
        text, source = document.page_content, str(document.metadata.get("source", document.id))
        title = str(document.metadata.get("title", ""))
        known[str(document.id)] = Citation(id=str(document.id), text=text, sha256=text_sha256(text), source=source, title=title)
    return known
