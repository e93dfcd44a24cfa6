"""Off-policy evaluation: what another policy would earn, estimated from the log of the one that was shown."""
