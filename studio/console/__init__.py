"""What the commands share: where they speak, what they read from the command line, how they show long work."""
