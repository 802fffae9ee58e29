"""What is asked of Spark: a text in, the region or the values that its rows say out."""
