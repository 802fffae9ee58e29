"""What is recorded of a materialized view, what is configured, and what changed since (RFC: MaterializedViewStatus).

In: a view's name and its configuration. Out: an inspection: its definition, its base tables, fresh or stale and where.
"""
