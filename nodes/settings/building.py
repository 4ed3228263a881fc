"""The settings of building an index beside its passages with a language model: a graph, or a hierarchy."""

from typing import ClassVar

from langchain_core.language_models import BaseChatModel
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from ramify.nodes.settings import EMBEDDED, Settings
from ramify.tools.knowledge.communities import MAX_CLUSTER_SIZE, Weights


class BuildSettings(Settings):
    """The building of a graph with a language model (GraphRAG §1)."""

    listed: ClassVar[str] = (
        "a graph's are reporter, report_levels, unit_tokens, gleanings, claims, entity_types, max_cluster_size and weights; "
        "a model's calls have temperature, seed, num_ctx, num_predict, timeout and max_concurrency"
    )
    model: str | SkipJsonSchema[BaseChatModel] = Field(
        default=EMBEDDED, description="Who finds the names: extractive for rules, or a chat model; never auto, because that can take hours."
    )
    reporter: str | SkipJsonSchema[BaseChatModel] | None = Field(
        default=None, description="Who writes the reports; not given: the model. extractive quotes them from the documents."
    )
    report_levels: int = Field(
        default=99, ge=0, description="Levels whose reports the reporter writes, from the root; the others are quoted."
    )
    unit_tokens: int = Field(default=600, ge=50, description="Tokens of text read in one call: consecutive passages of one document.")
    gleanings: int = Field(default=1, ge=0, le=5, description="How often a text is read again for names that were missed.")
    claims: bool = Field(default=False, description="Whether claims about names are collected as well.")
    entity_types: str = Field(default="person, organisation, place, work, event", description="What kinds of names are looked for.")
    max_cluster_size: int = Field(default=MAX_CLUSTER_SIZE, ge=2, description="Communities larger than this are split further.")
    weights: Weights = Field(default="count", description="What weighs a connection: count, or pmi (how much oftener than by chance).")
    num_predict: int = Field(default=2048, ge=16, description="Longest reply in tokens, without a thought before it.")
    thought: bool = Field(default=False, description="Ask for one short sentence of thought before a reply.")


class HierarchySettings(Settings):
    """The summing up of a hierarchy's clusters with a language model (meta-guided RAG §4); its routing has settings of its own."""

    listed: ClassVar[str] = (
        "a hierarchy's are soft_k, escape, novelty, max_levels, tree, reduction, repairs, nli and more; "
        "a model's calls have temperature, seed, num_ctx, num_predict, timeout and max_concurrency"
    )
    model: str | SkipJsonSchema[BaseChatModel] = Field(
        default=EMBEDDED, description="Who sums up: extractive quotes sentences, or a chat model; never auto, because that can take hours."
    )
    nli: str | None = Field(
        default=None, description="A sentence-transformers NLI model, by folder or name, that says what a summary's leaves entail."
    )
    thought: bool = Field(default=False, description="Ask for one short sentence of thought before a reply.")
