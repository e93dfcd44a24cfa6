"""What is certain of a learned policy: from problems held out, and by the paper's theorems.

`lower_mean`, `lower_ratio` and `lower_share` turn values on held-out problems into lower confidence bounds, which
`certify` of a fitted model puts together. The rest are the paper's theorems with their constants, as numbers.

With m = length, k = rival_length and k' = min(m, k), Theorems 1 and 2 say of the mixture of the policies of all T
rounds, with probability at least 1 - delta:

    F(mixture, m) >= (1 - exp(-m / k)) F(best list of k policies) - average regret - confidence terms

States must be independent draws, each visited once, and the reward monotone, submodular and within [0, 1].
"""

from listwright.guarantees.betting import lower_mean, lower_ratio, lower_share
from listwright.guarantees.bounds import (
    approximation_ratio,
    confidence_terms,
    list_length_for,
    regret_bound,
    rounds_for,
)
from listwright.guarantees.certificate import Certificate
from listwright.guarantees.held_out import HeldOutCertificate
from listwright.guarantees.online import certify

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
