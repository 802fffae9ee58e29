"""What people ask of views between refreshes: status and explain. Nothing is carried out, and Spark is not asked.

In: a catalog reader and requests. Out: frozen dataclasses, and their text for people and as JSON.
"""
