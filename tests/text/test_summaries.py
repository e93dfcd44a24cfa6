"""Clusters as problems, ROUGE of summaries, reading of folders, the shipped model and its reasons."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

import listwright as lw
from listwright.baselines import Oracle, TopK
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.simulate.corpus import corpus
from listwright.storage import save
from listwright.text.budget import Budget, sizes
from listwright.text.clusters import Cluster
from listwright.text.corpora import read_clusters, splits, usual_budget
from listwright.text.scores import summary_scores, summary_text
from listwright.text.summaries import (
    GROUPS,
    NOVELTY,
    SHIPPED,
    clusters_of,
    explain_lists,
    shipped_model,
    summarize,
    summary_model,
)
from listwright.text.summary_problems import (
    WIDTH,
    paper_summary_features,
    size_limit,
    structure_features,
    summary_features,
    summary_problems,
)

BUDGET = Budget(300, "bytes")


@pytest.fixture(scope="module")
def clusters():
    return corpus(8, seed=3)


@pytest.fixture(scope="module")
def problems(clusters):
    return summary_problems(clusters, need_references=True)


def bare(cluster):
    return Cluster.from_documents(cluster.id, [list(cluster.sentences)])


def write_cluster(folder, *texts, references=()):
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text)
    for number, text in enumerate(references):
        (folder / "references").mkdir(exist_ok=True)
        (folder / "references" / f"{number}.txt").write_text(text)
    return folder


def test_problems_are_the_clusters(clusters, problems):
    assert problems.counts.tolist() == [len(cluster.sentences) for cluster in clusters]
    assert problems.sizes[: problems.counts[0]].tolist() == sizes(clusters[0].sentences).tolist()
    assert problems.vectors.shape == (problems.n_rows, WIDTH)
    assert np.allclose(problems.vectors.multiply(problems.vectors).sum(axis=1), 1.0, atol=1e-5)


def test_the_reward_is_rouge_recall(clusters, problems):
    lists = Oracle().fit(problems).predict(problems, budget=size_limit(BUDGET))
    scores = summary_scores(lists, clusters)
    assert np.allclose(scores["rouge1_r"], list_values(lists, problems))
    assert (scores["rouge2_r"] < scores["rouge1_r"]).all()
    with pytest.raises(InputError, match="one list per cluster"):
        summary_scores(lists, clusters[:3])


def test_joined_summaries_fill_the_budget_and_no_more(clusters, problems):
    """One sentence of exactly the budget fits, one byte more does not."""
    size = len(clusters[0].sentences[0].encode())
    one = Cluster.from_documents("one", [[clusters[0].sentences[0]]])
    for amount, count in ((size, 1), (size - 1, 0)):
        lead, single = TopK("inverse_position"), summary_problems([one])
        lists = lead.fit(single).predict(single, budget=size_limit(Budget(amount)))
        assert lists.lengths.tolist() == [count]
    lists = TopK("lexrank", budget=size_limit(BUDGET)).fit(problems).predict(problems)
    for cluster, items in zip(clusters, lists, strict=True):
        left = BUDGET.amount - len(summary_text(cluster, items).encode())
        others = sizes([text for row, text in enumerate(cluster.sentences) if row not in set(items.tolist())])
        assert 0 <= left < others.min()


def test_missing_references_are_named(clusters):
    mixed = [clusters[0], bare(clusters[1])]
    assert summary_problems(mixed).reward is None
    with pytest.raises(InputError, match="Cluster 'c001' has no references"):
        summary_problems(mixed, need_references=True)
    with pytest.raises(InputError, match="no clusters"):
        summary_problems([])


def test_features_are_the_papers_three_kinds(problems):
    names = paper_summary_features().fit(problems).names()
    assert len(names) == 24 + 25 + 24
    assert summary_features().fit(problems).names() == [*names, "expected new words", "expected new words by size"]
    assert {"lexrank", "volume", "volume x lexrank", "minimum distance in lexrank"} <= set(names)


def test_headings_and_cues_are_seen():
    sections = [["1 Introduction", "1 Introduction", "2 Method", "5 Conclusions"]]
    sentences = [["Nets are old.", "We propose new nets.", "Nodes have weights.", "Results show gains."]]
    cluster = Cluster.from_documents("nets", sentences, sections=sections)
    assert structure_features(cluster).T.tolist() == [[1, 1, 0, 0], [0, 0, 0, 1], [1, 0, 1, 1], [0, 1, 0, 1]]
    assert structure_features(bare(cluster)).T.tolist() == [[0] * 4, [0] * 4, [0] * 4, [0, 1, 0, 1]]


def test_lead_takes_first_sentences(clusters, problems):
    lists = TopK("inverse_position").fit(problems).predict(problems, length=3)
    assert [clusters[0].positions[item] for item in lists[0]] == [0, 0, 0]
    assert [clusters[0].documents[item] for item in lists[0]] == [0, 1, 2]


def test_splits_are_official_or_test_each_once(clusters):
    ((train, test),) = splits(clusters)
    assert (len(train), len(test)) == (6, 2)
    folds = splits([bare(cluster) for cluster in clusters])
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(8))
    assert all(not set(train) & set(test) for train, test in folds)
    ((train, test),) = splits([bare(clusters[0])] * 300)
    assert (len(train), len(test)) == (240, 60)
    with pytest.raises(InputError, match="at least 2 clusters"):
        splits([bare(clusters[0])])


def test_the_budget_follows_the_references():
    short = Cluster.from_documents("a", [["It rained."]], references=["Rain."])
    assert (usual_budget([short]).amount, usual_budget(corpus(1)).amount) == (250, 665)


def test_folders_are_read_as_what_they_hold(tmp_path):
    line = {"id": "c1", "docs": [{"sentences": ["It rained."]}], "refs": [{"text": "Rain."}]}
    (tmp_path / "lines").mkdir()
    table = tmp_path / "lines" / "some.jsonl.gz"
    table.write_bytes(gzip.compress(json.dumps(line).encode()))
    assert read_clusters(tmp_path / "lines") == read_clusters(table)
    for part in ("train", "test"):
        write_cluster(
            tmp_path / "two" / part / "a", f"It rained. Rivers rose in the {part} part.", references=["Rain."]
        )
    assert [(one.id, one.split) for one in read_clusters(tmp_path / "two")] == [
        ("train/a", "train"),
        ("test/a", "test"),
    ]
    documents = tmp_path / "duc" / "d30001t"
    documents.mkdir(parents=True)
    (documents / "one").write_text("<DOC><DOCNO> 1 </DOCNO><TEXT>It rained. Rivers rose.</TEXT></DOC>")
    assert read_clusters(tmp_path / "duc")[0].sentences == ("It rained.", "Rivers rose.")
    write_cluster(tmp_path / "plain" / "b", "It rained.")
    assert read_clusters(tmp_path / "plain")[0].id == "b"
    with pytest.raises(InputError, match=r"Cluster 'b' in .* has no references"):
        read_clusters(tmp_path / "plain", need_references=True)


def test_shipped_model_is_better_than_lead(clusters, problems):
    limit = size_limit(BUDGET)
    values = [
        list_values(model.predict(problems, budget=limit), problems).mean()
        for model in (shipped_model(), TopK("inverse_position").fit(problems))
    ]
    assert values[0] > values[1] + 0.03
    assert SHIPPED.stat().st_size < 150_000


def test_reasons_add_up_to_the_score_above_the_mean(problems):
    model = shipped_model()
    limit = 300.0
    items, reasons = explain_lists(model, problems, limit)
    lists = model.predict(problems, budget=limit)
    assert all(np.array_equal(one, other) for one, other in zip(items, lists, strict=True))
    assert set(reasons[0][0]) == {*GROUPS, NOVELTY}
    start = model.training_.features.start(problems)
    scores = model.policy_.score(model.training_.features.rows(start))[: problems.counts[0]]
    fits = scores[problems.sizes[: problems.counts[0]] <= limit]
    expected = (scores[items[0][0]] - fits.mean()) / fits.std()
    assert sum(reasons[0][0].values()) == pytest.approx(expected, rel=1e-3)


def test_novelty_waits_for_a_list(problems):
    """Beside an empty list only the distances are left of it, and they are 0."""
    _, reasons = explain_lists(shipped_model(), problems, 300.0)
    assert all(abs(picks[0][NOVELTY]) < 1e-5 for picks in reasons)
    assert any(abs(picks[1][NOVELTY]) > 0.05 for picks in reasons)


def test_a_policy_for_each_position_has_reasons_too(problems):
    model = lw.ConSeqOpt(budget=300, features=summary_features(), n_passes=1, random_state=0).fit(problems)
    items, reasons = explain_lists(model, problems, 300.0)
    assert [len(one) for one in reasons] == [len(one) for one in items]


def test_reasons_need_a_policy_that_adds_up_columns(problems):
    learner = ExtraTreesRegressor(4, random_state=0)
    model = lw.SCP(budget=300, features=summary_features(), learner=learner, n_passes=1, random_state=0).fit(problems)
    with pytest.raises(InputError, match="linear policy"):
        explain_lists(model, problems, 300.0)


def test_summaries_keep_to_any_unit(clusters):
    (summary,) = summarize(clusters[:1], Budget(30, "words"))
    assert 20 < len(summary.text.split()) <= 30
    assert summary.sentences[0].reasons is None
    assert json.loads(json.dumps(summary.to_dict()))["summary"] == summary.text
    (explained,) = summarize(clusters[:1], Budget(30, "words"), explain=True)
    assert explained.text == summary.text
    assert explained.sentences[0].reasons


def test_own_models_summarise(clusters, tmp_path):
    model = summary_model(clusters[:4], budget=BUDGET)
    save(model, tmp_path / "own.listwright", slim=True)
    (summary,) = summarize(clusters[4:5], BUDGET, model=model)
    assert 0 < len(summary.text.encode()) <= 300


def test_what_is_summarised(tmp_path):
    one = write_cluster(tmp_path / "many" / "one", "It rained. Rivers rose.", "Rain fell.")
    two = write_cluster(tmp_path / "many" / "two", "Snow fell.")
    assert [len(cluster.sentences) for cluster in clusters_of([one])] == [3]
    assert [cluster.id for cluster in clusters_of([tmp_path / "many"])] == ["one", "two"]
    (together,) = clusters_of([one / "0.txt", two / "0.txt"])
    assert together.document_names == ("0.txt", "0.txt")
    with pytest.raises(InputError, match=r"There is no file or folder .*nowhere"):
        clusters_of([tmp_path / "nowhere"])
    with pytest.raises(InputError, match="Two folders are named 'one'"):
        clusters_of([one, one])
    (tmp_path / "bare").mkdir()
    with pytest.raises(InputError, match="bare is empty"):
        clusters_of([tmp_path / "bare"])


def test_a_budget_below_every_sentence_is_told(tmp_path):
    folder = write_cluster(tmp_path / "rain", "It rained.", "Rivers rose.")
    with pytest.raises(InputError, match="No sentence of rain fits 9 bytes: the shortest takes 10"):
        summarize(clusters_of([folder]), Budget(9))
    assert summarize(clusters_of([folder]), Budget(10))[0].text == "It rained."
