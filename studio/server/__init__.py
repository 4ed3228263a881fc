"""LangGraph's development server with ramify's graphs; and the `mcp` server.

`app` has the graphs, `langgraph_json` registers them; `assistants` are bound to an index each;
`bounds` restricts what runs may name; `guard` checks requests and their sizes.
"""

__all__: list[str] = []
