"""Published data sets as problems, read from files that you have; nothing is downloaded."""

from listwright.datasets._splits import Linked, TrainTest
from listwright.datasets.aslib import Scenario, read_aslib
from listwright.datasets.motion_paths import read_motion_paths
from listwright.datasets.trajectory import read_trajectory
