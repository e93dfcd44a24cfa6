"""Learning from stored feedback: one learner among all replicas, whose every step can be undone."""
