"""Prompts: one per file, with its slots and the type of its reply."""

from ramify.prompts.answer import AGGREGATE, ANSWER, CLOSED_BOOK, Answered
from ramify.prompts.chain import FOLLOW_UP, NEXT_QUESTION, NEXT_THOUGHT, SEARCH_OR_ANSWER, Concluded, Next
from ramify.prompts.contextualize import CONTEXTUALIZE
from ramify.prompts.decide import DECIDE
from ramify.prompts.decompose import DECOMPOSE, ENTITIES
from ramify.prompts.extract import CLAIMS, EXTRACT, GLEAN, Extracted
from ramify.prompts.finalize import CHECK, FINALIZE, WRITE, Final
from ramify.prompts.global_search import MAP_REPORT, REDUCE
from ramify.prompts.iterative import COMPRESS, FILTER, PLAN, Filtered
from ramify.prompts.judge import JUDGE, RUBRIC
from ramify.prompts.prompt import Above, Finding, Prompt, Quote, Turn
from ramify.prompts.questions import OVERVIEW, TASKS, USERS
from ramify.prompts.report import DESCRIBE, REPORT, Reported
from ramify.prompts.summarize import CONDENSE, SUMMARIZE, SUMMARIZE_CLUSTER, SUPPORT, EntitySummary, Summarized
from ramify.prompts.translate import TRANSLATE

__all__ = [
    "AGGREGATE",
    "ANSWER",
    "CHECK",
    "CLAIMS",
    "CLOSED_BOOK",
    "COMPRESS",
    "CONDENSE",
    "CONTEXTUALIZE",
    "DECIDE",
    "DECOMPOSE",
    "DESCRIBE",
    "ENTITIES",
    "EXTRACT",
    "FILTER",
    "FINALIZE",
    "FOLLOW_UP",
    "GLEAN",
    "JUDGE",
    "MAP_REPORT",
    "NEXT_QUESTION",
    "NEXT_THOUGHT",
    "OVERVIEW",
    "PLAN",
    "REDUCE",
    "REPORT",
    "RUBRIC",
    "SEARCH_OR_ANSWER",
    "SUMMARIZE",
    "SUMMARIZE_CLUSTER",
    "SUPPORT",
    "TASKS",
    "TRANSLATE",
    "USERS",
    "WRITE",
    "Above",
    "Answered",
    "Concluded",
    "EntitySummary",
    "Extracted",
    "Filtered",
    "Final",
    "Finding",
    "Next",
    "Prompt",
    "Quote",
    "Reported",
    "Summarized",
    "Turn",
]
