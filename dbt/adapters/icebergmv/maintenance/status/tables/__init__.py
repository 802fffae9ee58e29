"""The base tables behind the names in a SELECT: what is read of them, and under which columns."""
