"""The public name of `listwright.apps.serve`."""

import sys

from listwright.apps import serve

sys.modules[__name__] = serve
