"""What all tests share: strict checkpoints, no tracing, one small question answered by a fake model."""

import os

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side already: torch's threads would wait for one another, spinning
