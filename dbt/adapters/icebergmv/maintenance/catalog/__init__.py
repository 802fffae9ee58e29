"""Reading a catalog without Spark: tables, views, manifests, and what changed between two snapshots.

In: the name of a table and two snapshots. Out: its changed partitions, column bounds or rows as TupleDomains.
"""
