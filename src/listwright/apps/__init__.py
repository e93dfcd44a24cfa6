"""Programs over the library: the command line and the HTTP service."""
