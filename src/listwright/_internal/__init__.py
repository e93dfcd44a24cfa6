"""Helpers that several packages share and that have no subject of their own.

Arrays and their checks (`arrays`, `intake`, `limits`, `groups`), rows of unequal problems (`ragged`), folds, linear
algebra, files, threads, progress and names in model files (`saved`). Nothing here is public API.
"""
