"""LangGraph's development server with our graphs.

`app` has the graphs and `langgraph_json` names them; what a run may name: `bounds`; who may use the server: `guard`, with `limits`.
"""
