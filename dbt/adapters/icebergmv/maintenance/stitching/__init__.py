"""Reads that are never stale: fresh rows from storage, stale ones from the base tables (RFC-0016, section 6)."""
