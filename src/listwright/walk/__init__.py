"""Builds lists item by item with a policy: the plain walk, its compiled form, and its replay for explanations."""
