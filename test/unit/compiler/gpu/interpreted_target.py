"""A target for `trivium conformance` where there is no GPU: kernels run in Triton's interpreter.

trivium conformance --targets trivium.test.unit.compiler.gpu.interpreted_target:compile
"""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from trivium.compiler.driver import build
from trivium.runtime.session import Session
from trivium.test.unit.compiler.gpu.gpu_packages import opened
from trivium.test.unit.runtime.gpu.stand_in import StandIn
from trivium.test.unit.runtime.gpu.stand_in import build as build_driver


def compile(model: Any, **options: Any) -> Session:
    """Compile a model for a GPU, and return a session on the stand-in for its driver."""
    return opened(build(model, target="gpu:sm_90", **options), _stand_in())


@cache
def _stand_in() -> StandIn:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "driver").mkdir()
    return StandIn(folder, build_driver(folder / "driver"))
