"""Run Trivium's work on a Ray cluster: predictions of a data set, and tasks that measure.

`trivium.ray` exports what users import, and commands with `--ray` import the tasks. It imports
the runtime; Ray itself only where tasks are started. Start reading at `predictor.py`.
"""

from .predictor import Predictor as Predictor
from .spread import spread as spread
from .tune import tune as tune
