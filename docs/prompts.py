"""Write docs/prompts.md: what each prompt costs in tokens, and how long its reply can be."""

from typing import Any

WORDS = "The old mill at the end of the lane was rebuilt by two brothers from the north in the spring of 1862. "
"""Ordinary text to fill a reply with."""


def longest(schema: dict[str, Any]) -> Any:
    """Make the longest value that a schema's bounds allow."""
    if "properties" in schema:
        return {name: longest(field) for name, field in schema["properties"].items()}
    if "enum" in schema or "const" in schema:
        return max(schema.get("enum", [schema.get("const")]), key=len)
    if schema["type"] == "array":
        return [longest(schema["items"])] * schema["maxItems"]
    if schema["type"] == "string":
        return (WORDS * schema["maxLength"])[: schema["maxLength"]]
    return {"integer": schema.get("maximum"), "number": 0.95, "boolean": False}[schema["type"]]
