"""Online learning from stored feedback: one replica learns at a time, under a lease."""
