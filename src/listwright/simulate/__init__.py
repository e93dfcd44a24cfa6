"""Simulated problems, texts and tables, which need no data files.

`trajectory` is the robot arm of the paper's experiment (a) and `news` the readers of (b); `corpus` makes clusters of
reports with summaries, `questions` questions that take several passages to answer, and `readers` the table of the front
page. The same seed always gives the same data.
"""

from listwright.simulate import corpus, news, questions, readers, trajectory

__all__ = ["corpus", "news", "questions", "readers", "trajectory"]
