"""What all tests share: strict checkpoints, no tracing, one small question answered by a fake model."""

import os

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"
