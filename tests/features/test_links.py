"""Links to the list, and what the list has not reached."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import listwright as lw
from listwright.errors import InputError
from listwright.features import Links

CITES = np.array([[0, 1, 2, 0], [0, 0, 0, 0], [3, 0, 0, 0], [1, 1, 0, 0]], dtype=float)
VECTORS = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], dtype=float)


def problems(**given: object) -> lw.Problems:
    """The same problem twice, so that rows of the second are not those of the first."""
    twice = {name: np.concatenate([value, value]) for name, value in given.items() if name == "vectors"}
    if "links" in given:
        twice["links"] = {"cites": np.concatenate([CITES, CITES])}
    return lw.Problems.from_arrays(np.zeros((8, 1)), offsets=[0, 4, 8], **twice)


def column(feature: Links, seen: object, name: str) -> list[float]:
    return feature.columns(seen)[4:, feature.names().index(name)].tolist()


def test_strongest_and_summed_link_to_the_list() -> None:
    both = problems(links=CITES)
    feature = Links().fit(both)
    seen = feature.start(both)
    assert not feature.columns(seen).any()
    seen = feature.add(feature.add(seen, np.array([-1, 5])), np.array([0, 6]))  # the second problem has picked 1, 2
    assert column(feature, seen, "best cites in the list") == [2, 0, 0, 1]
    assert column(feature, seen, "sum of cites in the list") == [3, 0, 0, 1]
    assert feature.columns(seen)[:4, 0].tolist() == [0, 0, 3, 1]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_what_is_newly_reached(kind: type) -> None:
    both = problems(vectors=VECTORS)
    both = lw.Problems.from_arrays(both.features, offsets=both.offsets, vectors=kind(both.vectors))
    feature = Links(thresholds=(0.05, 0.5)).fit(both)
    seen = feature.start(both)
    assert np.expm1(column(feature, seen, "newly reached above 0.5")) == pytest.approx([2, 2, 2, 2])
    seen = feature.add(seen, np.array([-1, 4]))
    assert np.expm1(column(feature, seen, "newly reached above 0.5")) == pytest.approx([0, 0, 2, 2])
    assert np.expm1(column(feature, seen, "newly reached above 0.05")) == pytest.approx([0, 1, 1, 1])
    assert column(feature, seen, "best cosine in the list") == pytest.approx(
        [1, 1 / np.sqrt(1.01), 0, 0.1 / np.sqrt(1.01)]
    )


def test_sparse_and_dense_vectors_say_the_same() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.random((12, 5)) * (rng.random((12, 5)) < 0.5)
    made = [
        lw.Problems.from_arrays(np.zeros((12, 1)), offsets=[0, 5, 12], vectors=v)
        for v in (vectors, sparse.csr_array(vectors))
    ]
    tables = []
    for one in made:
        feature = Links().fit(one)
        tables.append(feature.columns(feature.add(feature.start(one), np.array([2, 7]))))
    np.testing.assert_allclose(*tables, atol=1e-6)


def test_a_policy_follows_links() -> None:
    """Of worth: the first candidate, which a feature shows, and one that is linked to it, which only links show."""
    rng = np.random.default_rng(0)
    n, m = 60, 6
    second = rng.integers(1, m, size=n)
    features, links, covers = np.zeros((n, m, 1)), np.zeros((n, m, m)), np.zeros((n, m, 2))
    features[:, 0], covers[:, 0, 0] = 1, 1
    links[np.arange(n), second, 0] = 1
    covers[np.arange(n), second, 1] = 1
    made = lw.Problems.from_arrays(features, links={"cites": links}, reward=lw.rewards.Coverage(covers))
    assert lw.SCP(2, effort="fast", random_state=0).fit(made[:40]).score(made[40:]) == 1
    with pytest.raises(InputError, match=r"trained with links cites\. Got none"):
        lw.SCP(2, effort="fast", random_state=0).fit(made).predict(lw.Problems.from_arrays(features))


def test_nothing_to_link() -> None:
    with pytest.raises(InputError, match="Links needs links or vectors"):
        Links().fit(lw.Problems.from_arrays(np.zeros((2, 3, 1))))
