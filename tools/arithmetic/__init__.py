"""What can be reckoned with answers: `dates_and_numbers`, whether two are the `same_answer`, and how several `combine`."""
