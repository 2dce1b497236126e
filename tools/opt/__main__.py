"""Run `trivium-opt` as `python -m trivium.tools.opt`."""

import sys

from . import main

sys.exit(main())
