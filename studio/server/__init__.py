"""LangGraph's development server with ramify's graphs; and the `mcp` server.

`app` has the graphs, `langgraph_json` registers them; `guard` checks requests, their size and what runs may name.
"""

__all__: list[str] = []
