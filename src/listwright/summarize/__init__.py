"""Extractive summaries: document clusters as problems, rival methods, ROUGE, and a model that is shipped."""
