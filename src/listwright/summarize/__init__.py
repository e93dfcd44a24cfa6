"""Summaries of documents: clusters as problems, rivals, ROUGE, and a model that is shipped."""
