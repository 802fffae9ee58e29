"""What a refresh will do: nothing, append, overwrite, merge or full, which rows, and why.

In: a definition and a status. Out: a RefreshPlan, and the definition as a query over pinned snapshots.
"""
