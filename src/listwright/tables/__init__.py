"""Turn files with one row per candidate into problems: `read` in memory, `scan` for Parquet files that do not fit."""

from listwright.frames.columns import Columns
from listwright.frames.judgements import Judgements, read_qrels
from listwright.frames.reward_text import RewardSpec, known_rewards, parse_reward
from listwright.tables.files import read, read_with_columns
from listwright.tables.scan import Scan, scan
from listwright.tables.trec import qrels_reward, read_run, run_lists, write_run

__all__ = [
    "Columns",
    "Judgements",
    "RewardSpec",
    "Scan",
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
