"""What a plan reads and replaces, in rows, bytes and partitions that metadata count."""
