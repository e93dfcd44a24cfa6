"""Text: sentences, tokens, vectors, quality features, document clusters, budgets and scores."""
