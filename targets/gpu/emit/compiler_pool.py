"""The processes that compile kernels for this one."""

import atexit
import os
from functools import cache
from pathlib import Path

from ...process_pool import ProcessPool


def compiler_pool() -> ProcessPool:
    """Return the pool of this process, with a worker for each core that it may use."""
    return _pool_of(os.getpid())


@cache
def _pool_of(process: int) -> ProcessPool:
    pool = ProcessPool(Path(__file__).with_name("worker.py"), len(os.sched_getaffinity(0)))
    atexit.register(_close, pool, process)
    return pool


def _close(pool: ProcessPool, process: int) -> None:
    if os.getpid() == process:  # a fork of this process has no workers of its own
        pool.close()
