"""Compiled functions on plain arrays. They check nothing: callers pass arrays of the right types and shapes."""
