"""The commands of the command line, one per file."""

__all__: list[str] = []
