"""HTTP: what comes in, who may ask, and what goes out."""
