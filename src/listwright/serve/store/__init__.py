"""The store of lists and feedback, in SQLite or PostgreSQL."""
