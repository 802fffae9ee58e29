"""Stitching: fresh rows from the storage table, stale rows from the definition, in one query (RFC-0016, section 6)."""
