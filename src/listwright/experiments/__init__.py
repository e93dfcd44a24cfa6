"""The paper's experiments, and the demo.

Each experiment is a module with three functions: `run` turns settings into records (`records`), `section` turns records
into a section of a report, and `findings` sums them up in a paragraph. `registry` names them for the command line.
"""

from __future__ import annotations

from listwright.experiments.registry import EXPERIMENTS, Experiment, experiment

__all__ = ["EXPERIMENTS", "Experiment", "experiment"]
