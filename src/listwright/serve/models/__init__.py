"""Model versions and how a request becomes a list.

`requests` and `passages` define what comes in, `intake` checks it against a model, `building` builds the list, and
`told` checks feedback. `fleet` keeps the loaded versions and the traffic, `versions` stores them, `shadow` and
`comparing` judge one version against another, and `details` describes lists and versions to operators.
"""
