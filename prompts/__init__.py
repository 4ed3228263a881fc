"""Prompts: one per file, with its slots and the type of its reply."""

from ramify.prompts.aggregate import AGGREGATE
from ramify.prompts.answer import ANSWER, Answered
from ramify.prompts.check import CHECK
from ramify.prompts.claims import CLAIMS
from ramify.prompts.closed_book import CLOSED_BOOK
from ramify.prompts.compress import COMPRESS
from ramify.prompts.condense import CONDENSE
from ramify.prompts.contextualize import CONTEXTUALIZE
from ramify.prompts.decide import DECIDE
from ramify.prompts.decompose import DECOMPOSE
from ramify.prompts.describe import DESCRIBE
from ramify.prompts.entities import ENTITIES
from ramify.prompts.extract import EXTRACT, Extracted
from ramify.prompts.filter import FILTER, Filtered
from ramify.prompts.finalize import FINALIZE, Final
from ramify.prompts.follow_up import FOLLOW_UP, Concluded
from ramify.prompts.glean import GLEAN
from ramify.prompts.judge import JUDGE
from ramify.prompts.map_report import MAP_REPORT
from ramify.prompts.next_question import NEXT_QUESTION, Next
from ramify.prompts.next_thought import NEXT_THOUGHT
from ramify.prompts.overview import OVERVIEW
from ramify.prompts.plan import PLAN
from ramify.prompts.prompt import Above, Finding, Prompt, Quote, Turn
from ramify.prompts.reduce import REDUCE
from ramify.prompts.report import REPORT, Reported
from ramify.prompts.rubric import RUBRIC
from ramify.prompts.search_or_answer import SEARCH_OR_ANSWER
from ramify.prompts.summarize import SUMMARIZE, EntitySummary
from ramify.prompts.summarize_cluster import SUMMARIZE_CLUSTER, Summarized
from ramify.prompts.support import SUPPORT
from ramify.prompts.tasks import TASKS
from ramify.prompts.translate import TRANSLATE
from ramify.prompts.users import USERS
from ramify.prompts.write import WRITE

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
