"""Helpers that several packages share and that have no subject of their own.

Arrays and their checks (`arrays`, `intake`), rows of unequal problems, groups and folds (`ragged`), linear algebra,
words, files, threads, progress, optional packages and names in model files (`saved`). Nothing here is public API.
"""
