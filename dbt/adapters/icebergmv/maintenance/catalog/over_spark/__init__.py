"""Reading a catalog through Spark, where this process reaches neither the catalog nor its files.

In: a function that runs SQL. Out: the same answers as a direct reader gives, from the same metadata files.
"""
