"""Simulated problems, texts and tables, which need no data files. The same seed always gives the same data."""

from listwright.simulate import corpus, news, questions, readers, trajectory

__all__ = ["corpus", "news", "questions", "readers", "trajectory"]
