"""Guarantees for learned policies: from held-out problems, and from the paper's theorems.

`lower_mean`, `lower_ratio` and `lower_share` turn values on held-out problems into lower confidence bounds; `certify`
of a fitted model combines them. The other functions are the paper's theorems with their constants, as numbers.

With m = length, k = comparator_length and k' = min(m, k), Theorems 1 and 2 say of the mixture of the policies of all T
rounds, with probability at least 1 - delta:

    F(mixture, m) >= (1 - exp(-m / k)) F(best list of k policies) - average regret - confidence terms

States must be independent draws, each visited once, and the reward monotone, submodular and within [0, 1].

Clairvoyant greedy reaches 1 - 1/e of the best list of its length. Limits on groups (`per_group=`) are a partition
matroid: greedy then reaches 1/2 of the best list within the groups (Fisher, Nemhauser & Wolsey 1978). The theorems
about learning do not cover groups; certificates from held-out problems do.
"""

from listwright.guarantees.betting import lower_mean, lower_ratio, lower_share
from listwright.guarantees.bounds import (
    approximation_ratio,
    confidence_terms,
    list_length_for,
    regret_bound,
    rounds_for,
)
from listwright.guarantees.certificate import Certificate, certify
from listwright.guarantees.held_out import HeldOutCertificate

__all__ = [
    "Certificate",
    "HeldOutCertificate",
    "approximation_ratio",
    "certify",
    "confidence_terms",
    "list_length_for",
    "lower_mean",
    "lower_ratio",
    "lower_share",
    "regret_bound",
    "rounds_for",
]
