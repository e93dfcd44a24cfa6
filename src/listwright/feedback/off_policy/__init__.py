"""Off-policy evaluation: the value of another policy's lists, estimated from the log of the one that was shown."""
