"""Asking: `one_question` with one variant, and `many_at_once`, at a `pace` that is told, in `worker_processes` where that helps."""
