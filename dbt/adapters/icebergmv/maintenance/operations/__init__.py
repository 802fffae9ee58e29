"""Operations between refreshes, on demand: storage tables are dropped or compacted, a view is compared with its SELECT.

See docs/architecture.md.
"""
