"""The store of lists and feedback, in SQLite or PostgreSQL.

`schema` has the tables and `upgrades` their history; `database` opens connections; `writer` commits writes in groups.
`journal`, `lease` and `retention` are what is written, `stats` what is read; `records` packs a list into bytes, and
`backup` copies a whole store.
"""
