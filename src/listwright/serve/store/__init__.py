"""The store of lists and feedback, in SQLite or PostgreSQL.

`schema` has the tables, `database` the connections, `records` what a list and feedback on it are. `writer` commits
writes in groups, and `journal` has what is written.
"""
