"""What is recorded of a view and its rows, and whether its objects are still those."""
