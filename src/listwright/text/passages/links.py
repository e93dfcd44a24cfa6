"""Links between the passages of a question: titles, names and words that lead from one to another.

Each link is a (passages, passages) table. A policy sees, for a candidate, its links to the passages picked so far: this
is how the second hop of a question is found.
"""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright._kernels import bridges as kernel
from listwright._kernels.needs import additions, part_worths
from listwright._kernels.titles import same_titles, title_mentions, title_shares
from listwright.needs import QueryTerms
from listwright.text.passages.question import Question
from listwright.text.passages.reading import Reading

_LOOSE = 0.7  # what words of a title count beside the title as it is


def title_links(reading: Reading, asked: Question, rarity: Floats, worths: Floats, new: Floats) -> dict[str, Floats]:
    """Compute links by titles: whether and how one passage mentions the title of another."""
    mentions = title_mentions(reading, worths)
    shares, unasked = title_shares(reading, rarity, asked.is_term)
    there, unasked = (mentions > 0).astype(np.float64), np.log1p(unasked)
    sentence = np.maximum(mentions - 1.0, 0.0)
    return {
        "mentioned_in": there,
        "mentions": there.T,
        "newly_mentioned_in": there * new[:, None],
        "newly_mentions": (there * new[:, None]).T,
        "title_words_in": shares,
        "title_words_of": shares.T,
        "new_title_words_in": unasked,
        "new_title_words_of": unasked.T,
        "mention_matches": sentence,
        "mention_matched": sentence.T,
        "same_title": same_titles(reading),
    }


def name_links(
    reading: Reading, asked: Question, rarity: Floats, needs: QueryTerms, worths: Floats, best: Floats
) -> dict[str, Floats]:
    """Compute links by names that two passages share and the question does not hold."""
    owners, stems, heights = kernel.name_words(reading, asked.is_term, worths, best)
    shared, bridge = kernel.bridges(owners, stems, heights, rarity, len(reading.bodies))
    met = (needs.wholes, needs.parts, needs.weights[0])
    return {
        "shared_name_words": np.log1p(shared),
        "bridge": bridge,
        "bridged_addition": kernel.bridged_additions(reading, met, owners, stems, rarity),
    }


def need_links(needs: QueryTerms, links: dict[str, Floats]) -> dict[str, Floats]:
    """Compute what two passages hold of the question together, alone and where titles or names link them."""
    # `links` must hold those of `title_links` and `name_links` already.
    added, together = additions(needs.wholes, needs.parts, needs.starts, needs.weights[0])
    titles = np.maximum(links["mentioned_in"], _LOOSE * links["title_words_in"])
    titles, names = np.maximum(titles, titles.T), np.minimum(links["shared_name_words"], kernel.MOST)
    return {
        "adds": added,
        "together": together,
        "adds_by_title": added * titles,
        "together_by_title": together * titles,
        "adds_by_name": added * names,
        "together_by_name": together * names,
    }


def sentence_worths(needs: QueryTerms) -> Floats:
    """Return the share of the question, weighed by rarity, that each sentence holds."""
    return part_worths(needs.parts, needs.weights[0])
