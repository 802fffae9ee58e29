"""Sets of values and what functions make of them: Domain, TupleDomain, partition transforms, key functions.

In: constraints on columns. Out: constraints on other columns, that hold for no row fewer. Knows no table and no SQL.
"""
