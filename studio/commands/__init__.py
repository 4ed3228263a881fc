"""The command line's commands, one a file."""
