"""The dispatcher's SQL: one function is one statement, and rows become frozen values at once.

Deadlines are judged by the database's clock; `now` replaces it where time must stand still.
"""
