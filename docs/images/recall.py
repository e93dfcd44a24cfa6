"""The picture of the front page: `python docs/images/recall.py` writes recall.png beside this file.

45 made-up clusters of news reports with four summaries each (`listwright.simulate.corpus`), three folds. A list of
sentences is worth the share of the words of human-written summaries that it contains (ROUGE-1 recall).
"""

from __future__ import annotations

from pathlib import Path

import altair as alt

import listwright as lw
from listwright.report.charts import chart_config
from listwright.simulate.corpus import corpus
from listwright.text import Budget
from listwright.text.summary_problems import room_of, summary_features, summary_problems

BUDGETS = (166, 333, 499, 665)
LEARNED = {"budget": room_of(Budget(665, "bytes")), "features": summary_features(), "random_state": 0}
METHODS = {
    "SCP: one policy that sees the list": lw.SCP(**LEARNED),
    "ConSeqOpt: one learner per position": lw.ConSeqOpt(**LEARNED),
    "SubMod: a fixed reward, tuned": lw.baselines.SubMod(),
    "sorted by boosted trees, then MMR": lw.baselines.MMR(0.3, "boosting"),
    "sorted by boosted trees": lw.baselines.TopK("boosting", random_state=0),
}


def chart(comparison: lw.Comparison) -> alt.Chart:
    """Mean recall by budget, one line per method."""
    records = [
        {"method": str(row["method"]), "bytes": int(row["budget"]) - 1, "recall": float(row["value"])}
        for row in comparison.table().records()
    ]
    lines = alt.Chart(alt.Data(values=records)).encode(
        x=alt.X("bytes:Q", title="bytes of the summary", axis=alt.Axis(values=list(BUDGETS), format="d", grid=False)),
        y=alt.Y("recall:Q", title="recall of words of human-written summaries", axis=alt.Axis(format="%", tickCount=6)),
        color=alt.Color("method:N", sort=list(METHODS), title=None, legend=alt.Legend(orient="right", columns=1)),
        strokeWidth=alt.condition(alt.datum.method == next(iter(METHODS)), alt.value(6), alt.value(2)),
        strokeDash=alt.condition(alt.datum.method == list(METHODS)[1], alt.value([6, 5]), alt.value([1, 0])),
    )
    return lines.mark_line(point=True).properties(width=440, height=260).configure(**chart_config())


if __name__ == "__main__":
    problems = summary_problems(corpus(45), need_references=True)
    found = lw.compare(METHODS, problems, folds=3, budgets=[room_of(Budget(size, "bytes")) for size in BUDGETS])
    print(found)
    chart(found).save(str(Path(__file__).with_suffix(".png")), scale_factor=1.5)
