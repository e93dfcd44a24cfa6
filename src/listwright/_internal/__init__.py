"""Helpers without a subject of their own: arrays, ragged rows, files, threads, progress."""
