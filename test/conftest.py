"""Make `trivium` importable from a bare checkout, here and in the processes that tests start.

Examples of hypothesis are not timed, and under CI they are the same ones in every run.
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis.internal.conjecture import providers

_site = Path(tempfile.mkdtemp(prefix="trivium-pytest-"))
atexit.register(shutil.rmtree, _site, ignore_errors=True)
(_site / "trivium").symlink_to(Path(__file__).resolve().parent.parent, target_is_directory=True)
sys.path.insert(0, str(_site))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(_site), *filter(None, [os.environ.get("PYTHONPATH")])]
)

settings.register_profile("trivium", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("trivium")

# Hypothesis also draws numbers that it finds in the code that is loaded. Examples would depend on
# which tests ran before.
providers._get_local_constants = lambda: providers._local_constants
