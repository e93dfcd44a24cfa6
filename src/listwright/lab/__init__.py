"""Experiments, simulators, data sets and reports: what reproduces the paper and demonstrates the library.

The library itself never imports this package.
"""
