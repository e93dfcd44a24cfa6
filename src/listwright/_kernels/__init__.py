"""Compiled functions on plain arrays. They check nothing: callers pass arrays of the right types and shapes."""

import listwright._internal.compiling  # noqa: F401  (tells whoever waits that they are compiled)
