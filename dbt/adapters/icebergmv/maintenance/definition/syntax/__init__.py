"""SQL text to tokens and a syntax tree that says what Spark reads, and what single nodes of it are."""
