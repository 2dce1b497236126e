"""A predictor that does not survive; in a module of its own, which workers import."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
from trivium.ray import Predictor

FATAL = 9_000
"""The row at which a worker is killed."""


class FragilePredictor(Predictor):
    """Kill its process once, midway; add the process of each row, and whether it maps the file."""

    def __init__(self, path: str, killed: str) -> None:
        super().__init__(path)
        self._path, self._killed = path, killed
        Path(f"{killed}.{os.getpid()}").touch()  # which processes had a session

    def __call__(self, batch: Any) -> dict[str, Any]:
        numbers = batch["data"]
        batch = {"id": numbers[:, 0].astype(np.int64), "x": numbers[:, 1:]}
        if FATAL in batch["id"] and not os.path.exists(self._killed):
            Path(self._killed).write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        made = super().__call__(batch)
        maps = Path("/proc/self/maps").read_text().splitlines()
        mapped = any(line.endswith(self._path) for line in maps)
        rows = len(batch["id"])
        return {**made, "process": np.full(rows, os.getpid()), "mapped": np.full(rows, mapped)}
