"""Questions written by hand over technical texts and invented office documents."""
