"""What measures the library; run with `python -m benchmarks.NAME`."""
