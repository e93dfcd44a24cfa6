"""Model versions and how a request becomes a list.

`intake` checks a request against a model, `building` builds the list, `version` is a loaded model, `registry` keeps all
of them with the traffic, `passages` packs and reranks, and `details` describes lists and versions to operators.
"""
