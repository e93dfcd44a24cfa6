"""Published runs on TREC Web 2009-2012 score what their papers and evaluation files say."""

from __future__ import annotations

from pathlib import Path

import pytest

import listwright as lw
from listwright.evaluation import alpha_ndcg, err_ia, subtopic_recall

# alpha-nDCG@5/10/20, and ERR-IA@20 and subtopic recall@20 as ndeval gives them.
PUBLISHED = {
    "DSSA": (0.400, 0.429, 0.452, 0.351, 0.646),
    "DESA": (0.410, 0.439, 0.465, 0.365, 0.659),
    "GDESA": (0.420, 0.445, 0.469, 0.369, 0.664),
    "PAD": (0.430, 0.454, 0.482, 0.386, 0.670),
}


@pytest.fixture(scope="module")
def web(shared_data: Path) -> lw.datasets.TrecWeb:
    folder = shared_data / "trec_web"
    if not folder.is_dir():
        pytest.skip("needs the data set trec_web")
    return lw.datasets.read_trec_web(folder)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_runs_score_what_was_published(web: lw.datasets.TrecWeb, name: str) -> None:
    lists, problems = web.published[name], web.problems
    found = [alpha_ndcg(lists, problems, ideal="judged", at=at).mean() for at in (5, 10, 20)]
    found += [err_ia(lists, problems, at=20).mean(), subtopic_recall(lists, problems, at=20).mean()]
    assert found == pytest.approx(PUBLISHED[name], abs=6e-4)


def test_the_oracle_on_the_pool(web: lw.datasets.TrecWeb) -> None:
    lists = lw.greedy(web.problems, length=20)
    found = [alpha_ndcg(lists, web.problems, ideal="judged", at=at).mean() for at in (5, 10, 20)]
    assert found == pytest.approx([0.679, 0.662, 0.657], abs=6e-4)
