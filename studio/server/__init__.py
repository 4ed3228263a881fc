"""LangGraph's development server with our graphs, and who may use it."""
