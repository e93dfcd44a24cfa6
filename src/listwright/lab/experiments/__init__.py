"""The paper's experiments, each a function from settings to records and from records to a section of a report."""

from __future__ import annotations

from listwright.lab.experiments.registry import EXPERIMENTS, Experiment, experiment

__all__ = ["EXPERIMENTS", "Experiment", "experiment"]
