"""Online learning from stored feedback.

Exactly one replica learns at a time (`updater`, under a lease). `learner` applies events to an `OnlineSCP`, `progress`
stores how far it came and snapshots, `monitor` pauses learning if it makes lists worse, and `control` lets operators
freeze, reset or roll back. The state is a function of a snapshot and the events after it.
"""
