"""The training loop: rounds, what a run keeps, and where its problems come from."""
