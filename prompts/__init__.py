"""What is said to the model: one prompt a file, with its slots and the type of its answer."""

from ramify.prompts.aggregate import AGGREGATE
from ramify.prompts.answer import ANSWER, Answered
from ramify.prompts.closed_book import CLOSED_BOOK
from ramify.prompts.compress import COMPRESS, Compressed
from ramify.prompts.contextualize import CONTEXTUALIZE, Standalone
from ramify.prompts.decide import DECIDE, Decision
from ramify.prompts.decompose import DECOMPOSE, Pair
from ramify.prompts.entities import ENTITIES, Entities
from ramify.prompts.filter import FILTER, Filtered
from ramify.prompts.finalize import FINALIZE, Final
from ramify.prompts.judge import JUDGE, Judgement
from ramify.prompts.next_question import NEXT_QUESTION, Next
from ramify.prompts.plan import PLAN, Plan
from ramify.prompts.prompt import Above, Finding, Prompt, Quote, Turn
from ramify.prompts.rubric import RUBRIC, Verdict
from ramify.prompts.summarize import SUMMARIZE, Summary

__all__ = [
    "AGGREGATE",
    "ANSWER",
    "CLOSED_BOOK",
    "COMPRESS",
    "CONTEXTUALIZE",
    "DECIDE",
    "DECOMPOSE",
    "ENTITIES",
    "FILTER",
    "FINALIZE",
    "JUDGE",
    "NEXT_QUESTION",
    "PLAN",
    "RUBRIC",
    "SUMMARIZE",
    "Above",
    "Answered",
    "Compressed",
    "Decision",
    "Entities",
    "Filtered",
    "Final",
    "Finding",
    "Judgement",
    "Next",
    "Pair",
    "Plan",
    "Prompt",
    "Quote",
    "Standalone",
    "Summary",
    "Turn",
    "Verdict",
]
