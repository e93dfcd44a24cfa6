"""Helpers that several packages share and that have no subject of their own. Nothing here is public."""
