"""LangGraph's development server with ramify's graphs.

`app` has the graphs, `langgraph_json` registers them; `bounds` restricts what runs may name; `guard` checks requests, with `limits`.
"""
