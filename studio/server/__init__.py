"""LangGraph's development server with our graphs: `app`, `langgraph_json`; what a run there may name: `bounds`; who may use it: `guard`."""
