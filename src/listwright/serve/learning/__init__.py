"""Online learning from stored feedback.

Exactly one replica learns at a time (`updater`, under a lease). `learner` applies events to an `OnlineSCP`, `states`
stores progress and snapshots, `published` is what replicas serve, `watch` pauses learning if it makes lists worse, and
`control` lets operators freeze, reset or roll back. The state is a function of a snapshot and the events after it.
"""
