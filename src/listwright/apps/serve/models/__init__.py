"""The models that a service has: which versions serve, and how a request becomes a list."""
