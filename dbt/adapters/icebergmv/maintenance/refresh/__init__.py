"""Carrying a plan out: the storage table, its branch and fast-forward, and the commit of the view.

In: an inspection. Out: a RefreshResult, after one commit of the view that readers can see.
"""
