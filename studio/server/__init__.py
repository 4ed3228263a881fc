"""LangGraph's development server with ramify's graphs.

`app` contains the graphs; `langgraph_json` registers them, with an assistant for each index;
`bounds` restricts what runs may name; `guard` checks the origins and sizes of requests.
"""

__all__: list[str] = []
