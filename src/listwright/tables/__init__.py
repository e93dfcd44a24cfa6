"""From tables to problems: frames and files with one row per candidate, and rewards in one line of text."""

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
