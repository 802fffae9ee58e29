"""What is configured for a view, and what a refresh of it is asked to do."""
