"""Reads between refreshes (RFC: stitching): stored rows where they are fresh, the definition where they are stale.

In: an inspection and what is recorded. Out: the SQL of the view, or a query that returns the current rows.
"""
