"""Turn tables into problems: data frames and files with one row per candidate, and rewards written as text.

`from_frame` takes a data frame, `read` takes files that fit in memory, and `scan` streams Parquet files that do not.
All three accept the same column options and the same reward strings, such as `"any:clicked"`, which `parse_reward`
explains and `known_rewards` lists. `Columns` records how a table was read, so that the next table is encoded in the
same way. `read_qrels`, `read_run`, `run_lists`, `qrels_reward` and `write_run` exchange judgements and rankings with
the tools of TREC (trec_eval, ndeval).
"""

from listwright.tables.columns import Columns
from listwright.tables.files import read, read_with_columns
from listwright.tables.frame import from_frame
from listwright.tables.kinds import known_rewards
from listwright.tables.runs import read_run, run_lists, write_run
from listwright.tables.scan import Scan, scan
from listwright.tables.spec import RewardSpec, parse_reward
from listwright.tables.trec import Judgements, qrels_reward, read_qrels

__all__ = [
    "Columns",
    "Judgements",
    "RewardSpec",
    "Scan",
    "from_frame",
    "known_rewards",
    "parse_reward",
    "qrels_reward",
    "read",
    "read_qrels",
    "read_run",
    "read_with_columns",
    "run_lists",
    "scan",
    "write_run",
]
