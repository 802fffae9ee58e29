"""A randomised tester on real Spark and Iceberg: schemas, views and histories made from one seed.

A history is plain data (history.py), made by a generator, run by a machine (machine.py) that checks the guarantee after
every step, and made smaller by dropping parts of it (shrink.py). Hypothesis makes and shrinks its examples in hundreds
of runs; a history takes seconds, so the few steps of shrinking that pay are done here.
"""
