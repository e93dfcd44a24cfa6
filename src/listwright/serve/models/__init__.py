"""Model versions, how a request becomes a list, and what operators see of both."""
