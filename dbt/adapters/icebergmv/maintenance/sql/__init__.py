"""SQL as text: names, types, literals, predicates.

In: values, types and Domains from strangers. Out: text that Spark reads as exactly these. Knows no view.
"""
