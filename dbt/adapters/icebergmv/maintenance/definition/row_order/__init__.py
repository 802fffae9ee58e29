"""What of a SELECT depends on the order in which rows are read, and what is certain all the same."""
