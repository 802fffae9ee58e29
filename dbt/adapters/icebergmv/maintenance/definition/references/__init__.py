"""Which tables and columns a SELECT names, where their names are in its text, and what nothing reads."""
