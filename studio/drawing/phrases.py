"""Texts for values, common to all interfaces."""

from ramify.graphs.run import Result, could_not_ask, why_unknown
from ramify.nodes.settings import is_embedded
from ramify.nodes.state import StoppedBy
from ramify.nodes.tree import ROOT, is_unknown
from ramify.nodes.tree.citation import Citation, Sentence, by_line, without_marks
from ramify.nodes.tree.phrases import ORIGINS, brief, figure
from ramify.tools.extractive.questions import open_question_kind
from ramify.tools.index.searcher import DEMO
from ramify.tools.quoting import one_line, pluralize, snippet

STOPPED: dict[StoppedBy, str] = {
    "calls": "stopped early: the budget of model calls was used up (max_calls), so this is answered from what was found until then",
    "tokens": "stopped early: the budget of tokens was used up (max_tokens), so this is answered from what was found until then",
    "seconds": "stopped early: the time was used up (max_seconds), so this is answered from what was found until then",
    "rounds": "stopped after the last round of reading (rounds), without having found enough",
    "error": "stopped by an error of the model; what was found until then is in the tree",
}
"""Why a question was stopped early, with the setting responsible."""


def understood(asked: str, question: str) -> str:
    """Return how a question was understood; empty if only case, spaces or the question mark differ."""
    return "" if _spoken(asked) == _spoken(question) else f"understood as: {brief(one_line(question))}"


def _spoken(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip(" ?")


def sureness(result: Result) -> str:
    """Return the confidence of an answer and its source; empty beside Unknown, which has none."""
    if result.confidence is None:
        return ""
    source = ORIGINS.get(result.confidence_source or "")
    return f"confidence {figure(result.confidence)}" + (f", {source}" if source else "")


def settled(result: Result) -> str:
    """Return how a conflict between findings was settled; empty if there was none."""
    if result.settled_by in {"", "agreement"}:
        return ""
    if result.settled_by == "unsettled":
        unsure = "" if why_unknown(result) or could_not_ask(result) else "none of the findings is sure enough to be the answer"
        return unsure if is_unknown(result.answer) else "the findings do not settle the question"
    if sum(branch.known for branch in result.tree.values()) < 2:
        return ""  # one finding contradicts none, whatever the model says
    return f"the findings contradict each other; settled by {result.settled_by}"


def reason(result: Result) -> str:
    """Return why there is no answer, if known and not in the notices; else empty."""
    told = could_not_ask(result) or why_unknown(result)
    return "" if told in (*result.notices, result.explanation) else told


def advice(result: Result) -> str:
    """Return what to try after an Unknown; else empty."""
    if not is_unknown(result.answer) or result.stopped_by in STOPPED or result.asked_back or result.tree[ROOT].status == "failed":
        return ""
    model = "a language model (model=ollama:llama3.1:8b)" if is_embedded(result.model) else "a larger model"
    other = "" if is_embedded(result.model) and open_question_kind(result.question) else "a narrower question, another strategy, or "
    if result.strategy == "global":
        other = "over=passages, other words, or "
    return f"try: {other}{model}"


def stopped(result: Result) -> str:
    """Return why a question was stopped early; else empty."""
    return "" if could_not_ask(result) and not result.error else STOPPED.get(result.stopped_by, "")


def sentence(told: str) -> str:
    """Return a text with a capital and a full stop."""
    return f"{told[:1].upper()}{told[1:].rstrip('.')}."


def cost(result: Result) -> str:
    """Return the cost of a question in one line."""
    usage = result.usage
    calls = f"{pluralize(usage.llm_calls, 'model call')} ({usage.critical_path_calls:,} sequential)"
    tokens = f"{usage.prompt_tokens:,} tokens in, {usage.completion_tokens:,} out"
    loading = f", including {usage.loading_s:.1f} s loading" if usage.loading_s >= 1 else ""
    return f"{calls} · {tokens} · {pluralize(usage.retrievals, 'search', 'searches')} · {usage.wall_s:.1f} s{loading}"


def searched(result: Result, remedy: str) -> str:
    """Return the index that was searched; for the demo, also how to choose another."""
    return f"{result.index} — your own documents: {remedy}" if result.index.startswith(f"{DEMO}: ") else result.index


LONGEST_FOUND = 12
"""Words of an answer that is marked where it stands."""
UNSUPPORTED = "no cited passage says this"


def full_text(result: Result) -> list[list[Sentence]]:
    """Return the sentences of the text by line; none where it is one that says no more than the answer."""
    shown = result.quoted or len(result.sentences) > 1 or not is_the_answer(result)
    return by_line(result.text, result.sentences) if shown else []


def is_the_answer(result: Result) -> bool:
    """Return whether the text is the answer, with no more to it than numbers."""
    text, answer = (without_marks(said).rstrip(" .") for said in (result.text, result.answer))
    return text == answer


def found_words(result: Result) -> list[str]:
    """List the answers that a quotation is marked for: that of the question, and of the branches whose passages it cites."""
    cited = {citation.id for citation in result.citations}
    answers = [result.answer, *(b.answer or "" for b in result.tree.values() if b.known and cited.intersection(b.cited))]
    return [
        one for one in dict.fromkeys(answers) if len(one.split()) <= LONGEST_FOUND and not is_unknown(one) and one not in ("", "Yes", "No")
    ]


def around(citation: Citation) -> tuple[str, str, str]:
    """Return a passage's text before the quotation, the quotation as it stands there, and the text behind it."""
    start, end = citation.start or 0, citation.end or 0
    return citation.text[:start], citation.text[start:end], citation.text[end:]


def title_of(citation: Citation) -> str:
    """Return the title, heading and page of a citation, else its file."""
    parts = [citation.title, citation.heading, citation.on_page]
    return " · ".join(filter(None, parts)) if citation.title else citation.where


def file_of(citation: Citation) -> str:
    """Return the file of a citation that has a title; else empty."""
    return citation.file if citation.title else ""


def named(citation: Citation) -> tuple[str, str]:
    """Return title and file of a citation, and the link that opens it, if known."""
    told = " · ".join(filter(None, (title_of(citation), file_of(citation))))
    return told, citation.link if citation.link.startswith("file:") else ""


def quoted(citation: Citation, answer: str = "") -> str:
    """Return the supporting quotation."""
    return citation.quote or snippet(citation.text, answer)
