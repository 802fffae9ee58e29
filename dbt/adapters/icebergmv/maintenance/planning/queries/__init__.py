"""The definition over pinned snapshots, and over rows that came and went, as text."""
