"""What can be asked of the changed rows of each table that a SELECT reads, as text."""
