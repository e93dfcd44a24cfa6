"""Compiled array functions: arrays in, arrays out, no classes. Each says its cost."""
