"""LangGraph's development server with ramify's graphs.

`app` has the graphs, `langgraph_json` registers them, with an assistant for each index;
`bounds` restricts what runs may name; `guard` checks requests and their sizes.
"""

__all__: list[str] = []
