"""A cluster of Ray on this machine, with two workers, for all tests of this folder."""

import os
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="package")
def ray() -> Iterator[Any]:
    """Return Ray's module, with a cluster of two CPUs that ends with the tests of this folder."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'trivium[ray]'")
    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    try:
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            object_store_memory=100 * 2**20,
        )
    except Exception as error:  # what a sandbox forbids, such as ports or shared memory
        pytest.skip(f"Ray starts no cluster here: {error}")
    yield ray
    ray.shutdown()
