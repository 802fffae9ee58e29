"""Operations between refreshes that change something: storage tables without a view are dropped.

See docs/architecture.md.
"""
