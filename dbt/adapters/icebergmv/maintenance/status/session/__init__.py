"""What the session of a view says: its settings, and its clock."""
