"""Prompts: one per file, with its slots and the type of its reply."""

from ramify.prompts.answer import AGGREGATE, ANSWER, CLOSED_BOOK, Answered
from ramify.prompts.chain import FOLLOW_UP, NEXT_QUESTION, NEXT_THOUGHT, SEARCH_OR_ANSWER, Concluded, Next
from ramify.prompts.contextualize import CONTEXTUALIZE
from ramify.prompts.decide import DECIDE
from ramify.prompts.decompose import DECOMPOSE, ENTITIES
from ramify.prompts.finalize import CHECK, FINALIZE, WRITE, Final
from ramify.prompts.global_search import MAP_REPORT, REDUCE
from ramify.prompts.iterative import COMPRESS, FILTER, PLAN, Filtered
from ramify.prompts.judge import JUDGE, RUBRIC
from ramify.prompts.prompt import Above, Finding, Prompt, Quote, Turn
from ramify.prompts.questions import OVERVIEW, SUGGEST, TASKS, USERS
from ramify.prompts.summarize import CONDENSE, SUMMARIZE, EntitySummary
from ramify.prompts.translate import TRANSLATE

__all__ = [
    "AGGREGATE",
    "ANSWER",
    "CHECK",
    "CLOSED_BOOK",
    "COMPRESS",
    "CONDENSE",
    "CONTEXTUALIZE",
    "DECIDE",
    "DECOMPOSE",
    "ENTITIES",
    "FILTER",
    "FINALIZE",
    "FOLLOW_UP",
    "JUDGE",
    "MAP_REPORT",
    "NEXT_QUESTION",
    "NEXT_THOUGHT",
    "OVERVIEW",
    "PLAN",
    "REDUCE",
    "RUBRIC",
    "SEARCH_OR_ANSWER",
    "SUGGEST",
    "SUMMARIZE",
    "TASKS",
    "TRANSLATE",
    "USERS",
    "WRITE",
    "Above",
    "Answered",
    "Concluded",
    "EntitySummary",
    "Filtered",
    "Final",
    "Finding",
    "Next",
    "Prompt",
    "Quote",
    "Turn",
]
