"""Ways to split questions, and how they are measured."""
