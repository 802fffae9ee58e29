"""The SELECT of a materialized view, parsed and analysed. `rules/` holds one operator a file.

In: SQL and the columns of its tables. Out: a ViewDefinition: which output column tracks which base column through what.
"""
