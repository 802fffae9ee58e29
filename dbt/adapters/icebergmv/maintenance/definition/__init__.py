"""The SELECT of a materialized view, parsed and analysed. `rules/` holds its operators, and facts that they share.

In: SQL and the columns of its tables. Out: a ViewDefinition: which output column tracks which base column through what.
"""
