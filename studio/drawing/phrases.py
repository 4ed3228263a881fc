"""Texts on results, branches and citations, common to all interfaces and to the pages' templates."""

from ramify.graphs.run import Result, failure_reason
from ramify.nodes.asking.ask import answerer_class
from ramify.nodes.state import StoppedBy
from ramify.nodes.tree import ROOT, Branch, Passage, Tree, is_unknown
from ramify.nodes.tree.answers import PLACEHOLDER
from ramify.nodes.tree.citation import Citation, Sentence, group_by_line, without_marks
from ramify.nodes.tree.notes import MAX_CONFIDENCE, check_advice, confidence_figure, shorten_note
from ramify.nodes.tree.notes import figure as figure
from ramify.tools.index.reports import parse_report_id
from ramify.tools.quoting import one_line, pluralize, snippet
from ramify.tools.search.searcher import DEMO
from ramify.tools.text_location import heading_path, page_number, printed_page

STOP_REASONS: dict[StoppedBy, str] = {
    "calls": "stopped early: the budget of model calls was used up (max_calls), so this is answered from what was found until then",
    "tokens": "stopped early: the budget of tokens was used up (max_tokens), so this is answered from what was found until then",
    "seconds": "stopped early: the time was used up (max_seconds), so this is answered from what was found until then",
    "rounds": "stopped after the last round of reading (rounds), without having found enough",
    "error": "stopped by an error of the model; what was found until then is in the tree",
}
"""Why a question was stopped early, with the setting responsible."""

ORIGINS = {
    "logprobs": "from log probabilities",
    "stated": "as the model states it",
    "reader": "from the embedded reader",
    "person": "as a person answered",
    "profile": "fitted by the profile",
}
"""Where a confidence comes from, in words for users."""
MAX_QUESTION_CHARS = 300
"""Characters of a question that are shown; the JSON has all of it."""


def understood_as(original: str, question: str) -> str:
    """Return a line with the question as it was understood; empty if it differs only in case, spaces or the question mark."""
    return (
        "" if _normalize_question(original) == _normalize_question(question) else f"understood as: {shorten_question(one_line(question))}"
    )


def _normalize_question(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip(" ?")


def confidence_text(result: Result) -> str:
    """Return the confidence of an answer and its source; empty for Unknown, which has none."""
    if result.confidence is None or is_unknown(result.answer):
        return ""
    source = ORIGINS.get(result.confidence_source or "")
    return ", ".join(filter(None, (f"confidence {confidence_figure(result.confidence)}", source, check_advice(result.confidence))))


def conflict_text(result: Result) -> str:
    """Return how a conflict between findings was settled; empty if there was none."""
    if result.settled_by in {"", "agreement"}:
        return ""
    if result.settled_by == "unsettled":
        hint = "" if result.explanation or failure_reason(result) else "none of the findings is sure enough to be the answer"
        return hint if is_unknown(result.answer) else "the findings do not settle the question"
    if sum(branch.known for branch in result.tree.values()) < 2:
        return ""  # a single finding cannot contradict another, whatever the model replied
    return f"the findings contradict each other; settled by {result.settled_by}"


def unknown_reason(result: Result) -> str:
    """Return why there is no answer, or why the run failed, if that is not in the notices; else empty."""
    reason = failure_reason(result) or (result.explanation if is_unknown(result.answer) else "")
    return "" if reason in result.notices else reason


def unknown_advice(result: Result, example: str = " (model=ollama:llama3.1:8b)") -> str:
    """Return what to try after the answer Unknown, with an example of a language model; else empty."""
    if not is_unknown(result.answer) or result.stopped_by in STOP_REASONS or result.asked_back or result.tree[ROOT].status == "failed":
        return ""
    answerer = answerer_class(result.model)
    model = "a larger model" if answerer.writes else f"a language model{example}"
    alternatives = "" if answerer.why_unquoted(result.question) else "a narrower question, another strategy, or "
    if result.strategy == "global":
        alternatives = "over=passages, other words, or "
    return f"try: {alternatives}{model}"


def stop_reason(result: Result) -> str:
    """Return why a question was stopped early; else empty."""
    return "" if failure_reason(result) and not result.error else STOP_REASONS.get(result.stopped_by, "")


def to_sentence(text: str) -> str:
    """Return a text that begins with a capital letter and ends with a full stop."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def cost_text(result: Result) -> str:
    """Return the model calls, tokens, searches and duration of a question in one line."""
    usage = result.usage
    calls = f"{pluralize(usage.llm_calls, 'model call')} ({usage.critical_path_calls:,} sequential)"
    tokens = f"{usage.prompt_tokens:,} tokens in, {usage.completion_tokens:,} out"
    loading = f", including {usage.loading_s:.1f} s loading" if usage.loading_s >= 1 else ""
    return f"{calls} · {tokens} · {pluralize(usage.retrievals, 'search', 'searches')} · {usage.wall_s:.1f} s{loading}"


def index_text(result: Result, remedy: str) -> str:
    """Return the index that was searched; for the demo, also how to choose another."""
    return f"{result.index} — your own documents: {remedy}" if result.index.startswith(f"{DEMO}: ") else result.index


def kind_of(branch: Branch) -> str:
    """Return what a branch asks, shortened: its question, the entity looked up, or the size of its batch."""
    if branch.kind == "batch":
        report_id = parse_report_id(branch.evidence[0]) if branch.evidence else None
        return pluralize(len(branch.evidence), *(report_id[0][:2] if report_id else ("passage",)))
    question = branch.question.replace(PLACEHOLDER, f"[answer of {branch.awaits}]") if branch.awaits else branch.question
    return shorten_question(f"about {question}" if branch.kind == "entity" else question)


def shorten_question(text: str) -> str:
    """Return a text cut to a maximum length."""
    return text if len(text) <= MAX_QUESTION_CHARS else text[: MAX_QUESTION_CHARS - 1].rstrip() + "…"


def measures(branch: Branch) -> list[tuple[str, float]]:
    """List the measurements of a branch: its answer's confidence, its fork's score. Unknown has none: it would read as sure."""
    is_shown = branch.confidence is not None and (branch.answer is None or branch.known)
    figures = [("confidence", min(branch.confidence or 0.0, MAX_CONFIDENCE) if is_shown else None), ("judged", branch.score)]
    return [(name, value) for name, value in figures if value is not None]


def legend(tree: Tree) -> dict[str, str]:
    """Return the meanings of the short words for notes that occur in a tree."""
    return {word: meaning for branch in tree.values() for word, meaning in shorten_note(branch.note).meanings.items()}


def heading(passage: Passage | None, source: str) -> str:
    """Return a passage's title, section and page, or its source."""
    if passage is None:
        return source
    parts = [passage.title, *heading_path(passage.title, str(passage.metadata.get("heading") or ""))]
    return (
        " · ".join(filter(None, [*parts, printed_page(passage.source, page_number(passage.metadata), passage.metadata.get("read_by"))]))
        or source
    )


RESTS_ON, ALSO_CLOSE, SOURCES = "Rests on", "Also close", "Sources"
CLOSEST_HEADING = "Closest passages, which may not hold the answer:"


def source_lists(result: Result) -> list[tuple[str, list[tuple[int, Citation]]]]:
    """Return the numbered citations below their titles: what an answer rests on, apart from what only comes close to the question."""
    numbered = list(enumerate(result.citations, 1))
    close = [(number, citation) for number, citation in numbered if citation.closest]
    rest = [(number, citation) for number, citation in numbered if not citation.closest]
    if is_unknown(result.answer) or not close:
        return [(SOURCES, numbered)] if numbered else []
    return [(title, citations) for title, citations in ((RESTS_ON, rest), (ALSO_CLOSE, close)) if citations]


MAX_MARKED_WORDS = 12
"""Maximum number of words of an answer that is highlighted in a quotation."""
UNSUPPORTED = "no cited passage says this"


def text_lines(result: Result) -> list[list[Sentence]]:
    """Return the sentences of the text by line; empty if the text only repeats the answer."""
    is_needed = result.quoted or len(result.sentences) > 1 or not text_is_answer(result)
    return group_by_line(result.text, result.sentences) if is_needed else []


def text_is_answer(result: Result) -> bool:
    """Return whether the text is the answer with only citation numbers added."""
    text, answer = (without_marks(sentence_text).rstrip(" .") for sentence_text in (result.text, result.answer))
    return text == answer


def answers_to_mark(result: Result) -> list[str]:
    """Return the answers to highlight in quotations: that of the question, and those of branches that cite the same passages."""
    cited = {citation.id for citation in result.citations}
    answers = [
        result.answer,
        *(branch.answer or "" for branch in result.tree.values() if branch.known and cited.intersection(branch.cited)),
    ]
    return [
        answer
        for answer in dict.fromkeys(answers)
        if len(answer.split()) <= MAX_MARKED_WORDS and not is_unknown(answer) and answer not in ("", "Yes", "No")
    ]


def split_at_quote(citation: Citation) -> tuple[str, str, str]:
    """Return the text of a passage before the quotation, the quotation, and the text after it."""
    start, end = citation.start or 0, citation.end or 0
    return citation.text[:start], citation.text[start:end], citation.text[end:]


def citation_title(citation: Citation) -> str:
    """Return the title, heading and page of a citation, else its file."""
    parts = [citation.title, citation.heading, citation.on_page]
    return " · ".join(filter(None, parts)) if citation.title else citation.where


def citation_file(citation: Citation) -> str:
    """Return the file of a citation that has a title; else empty."""
    return citation.file if citation.title else ""


def citation_title_link(citation: Citation) -> tuple[str, str]:
    """Return the title and file of a citation, and a link to the file, or an empty text."""
    title = " · ".join(filter(None, (citation_title(citation), citation_file(citation))))
    return title, citation.link if citation.link.startswith("file:") else ""


def citation_quote(citation: Citation, answer: str = "") -> str:
    """Return the quotation of a citation, else a snippet of its text that contains the answer."""
    return citation.quote or snippet(citation.text, answer)
