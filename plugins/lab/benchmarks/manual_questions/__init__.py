"""Questions about two manuals with short answers, as a data set for evaluations."""
