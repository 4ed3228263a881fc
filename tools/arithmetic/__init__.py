"""What can be reckoned with answers: dates and numbers compared, names matched, verdicts joined."""
