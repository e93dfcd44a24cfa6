"""The public name of `listwright.lab.datasets`."""

import sys

from listwright.lab import datasets

sys.modules[__name__] = datasets
