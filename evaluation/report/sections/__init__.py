"""The parts of a report, in their order; each is left out where the run has nothing to say in it."""
