"""Between a command and the terminal: what is read from the command line, where it speaks, how long work and a conversation are shown."""
