"""What the rules pass to each other: what a column follows, and what is known of the rows of a query."""
