"""The public name of `listwright.lab.simulate`."""

import sys

from listwright.lab import simulate

sys.modules[__name__] = simulate
