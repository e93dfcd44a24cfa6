"""Read frames and tables with one row per candidate into plain arrays and rewards, below `Problems`."""
