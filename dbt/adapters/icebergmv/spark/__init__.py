"""Spark inside the dbt process: the session, its settings, jars and Java; the cursor that runs statements in it.

In: credentials. Out: rows and errors that name a mend, without secrets.
"""
