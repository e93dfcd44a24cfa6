"""The store: tables, the single writer, and everything that is read from or written to them."""
