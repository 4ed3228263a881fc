"""Settings of building the graph or the hierarchy of an index, with a language model where one is named."""

from typing import Annotated, ClassVar, Self

from langchain_core.language_models.chat_models import BaseChatModel
from pydantic import BeforeValidator, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from ramify.kinds.examples import OwnExample, read_examples
from ramify.kinds.knowledge.communities import MAX_CLUSTER_SIZE, Weights
from ramify.nodes.settings import EMBEDDED, Settings
from ramify.tools.errors import UsageError


class BuildSettings(Settings):
    """The building of a graph with a language model (GraphRAG §1)."""

    settings_help: ClassVar[str] = (
        "a graph's are reporter, report_levels, unit_tokens, gleanings, claims, entity_types, examples, max_cluster_size and weights; "
        "a model's calls have temperature, seed, num_ctx, num_predict, timeout and max_concurrency"
    )
    model: str | SkipJsonSchema[BaseChatModel] = Field(
        default=EMBEDDED,
        description="What finds the names: extractive (rules) or a chat model; never auto, because a chat model can take hours.",
    )
    reporter: str | SkipJsonSchema[BaseChatModel] | None = Field(
        default=None,
        description="Model that writes the reports. Not given: the setting model. extractive quotes sentences of the documents.",
    )
    report_levels: int = Field(
        default=99, ge=0, description="Number of levels, from the root, whose reports the reporter writes; the others are quoted."
    )
    unit_tokens: int = Field(default=600, ge=50, description="Tokens of text read in one call: consecutive passages of one document.")
    gleanings: int = Field(default=1, ge=0, le=5, description="How often a text is read again for missed names.")
    claims: bool = Field(default=False, description="Also extract claims about names.")
    entity_types: str = Field(default="person, organisation, place, work, event", description="Types of names to extract.")
    examples: Annotated[tuple[OwnExample, ...], BeforeValidator(read_examples)] = Field(
        default=(), description="JSON file of worked examples for extraction, shown instead of ramify's own (docs/graph.md)."
    )
    max_cluster_size: int = Field(default=MAX_CLUSTER_SIZE, ge=2, description="Communities larger than this are split further.")
    weights: Weights = Field(default="count", description="Weight of a connection: count, or pmi (pointwise mutual information).")
    num_predict: int = Field(default=2048, ge=16, description="Maximum length of a reply in tokens, without the reasoning before it.")
    thought: bool = Field(default=False, description="Ask for one short sentence of reasoning before a reply.")

    @model_validator(mode="after")
    def _check_examples(self) -> Self:
        """Raise UsageError if not all examples are shown."""
        if len(self.examples) > self.shots:
            what = f"there are {len(self.examples)} examples, of which shots={self.shots} shows {self.shots}"
            raise UsageError(what, f"set shots={len(self.examples)}, or remove examples")
        return self


class HierarchySettings(Settings):
    """The summing up of a hierarchy's clusters with a language model (meta-guided RAG §4); its routing has settings of its own."""

    settings_help: ClassVar[str] = (
        "a hierarchy's are soft_k, escape, novelty, max_levels, tree, reduction, repairs, nli and more; "
        "a model's calls have temperature, seed, num_ctx, num_predict, timeout and max_concurrency"
    )
    model: str | SkipJsonSchema[BaseChatModel] = Field(
        default=EMBEDDED,
        description="What writes the summaries: extractive (quotes) or a chat model; never auto, because a chat model can take hours.",
    )
    nli: str | None = Field(
        default=None,
        description="Folder or name of a sentence-transformers NLI model that checks the sentences of a summary against its passages.",
    )
    thought: bool = Field(default=False, description="Ask for one short sentence of reasoning before a reply.")
