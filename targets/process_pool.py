"""Processes that work at the same time: started when first needed, used again, replaced."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Pipe, wait
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

Request = Mapping[str, Any]
Reply = Mapping[str, Any]
Report = Callable[[int, Reply], None]

TIMEOUT_SECONDS = 600.0
"""Time limit of one kernel: the slowest known kernels need half a minute on a busy machine."""

READY = {"ready": True}
"""What a worker may send once, before its first reply."""

CRASH, TIMEOUT = "crash", "timeout"
"""How a process ended before it answered."""

KEPT_VARIABLES = ("HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME")


class Worker:
    """One process that runs `script`, and the connection to it."""

    def __init__(self, script: Path) -> None:
        self.is_new = True
        self.folder = tempfile.mkdtemp(prefix="trivium-worker-")
        try:
            self._start(script)
        except BaseException:  # Ctrl-C: else the folder would remain
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _start(self, script: Path) -> None:
        self.messages = Path(self.folder, "messages")
        self.connection, theirs = Pipe()
        arguments = [str(theirs.fileno()), self.folder, *sys.path]
        with self.messages.open("ab") as messages:
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(script), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                pass_fds=[theirs.fileno()],
                env=_environment(self.folder),
                process_group=0,
            )
        theirs.close()

    def ended(self) -> bool:
        return self.process.poll() is not None

    def exit_reason(self) -> str:
        """Return why the process ended, with the last line of its output; "" for exit code 0."""
        code = self.process.wait()
        if code == 0:
            return ""
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        with suppress(OSError):
            lines = self.messages.read_text(errors="replace").split("\n")
            if last := next((line.strip() for line in reversed(lines) if line.strip()), ""):
                return f"the process crashed with {how}: {last}"
        return f"the process crashed with {how}"

    def close(self) -> None:
        """Kill the process and its children; remove its files."""
        self.connection.close()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class ProcessPool:
    """Send requests to workers that run `script`, at most `size` at a time.

    A script that takes long to start may send READY before it answers: it has `start_seconds` more
    until then, and the time of its first request begins.
    """

    def __init__(self, script: Path, size: int, start_seconds: float = 0.0) -> None:
        self.script = script
        self.size = size
        self.start_seconds = start_seconds
        self.idle: list[Worker] = []
        self.lock = Lock()

    def run(
        self, requests: Sequence[Request], report: Report, seconds: float = TIMEOUT_SECONDS
    ) -> None:
        """Answer all requests; `report` hears each reply, in the order in which they come.

        A worker that ends, or takes longer than `seconds`, gives the reply `error`, with CRASH or
        TIMEOUT as `ended`.
        """
        with self.lock:
            _Run(self, requests, report, seconds).finish()

    def worker(self) -> Worker:
        """Return an idle worker, or start one."""
        while self.idle:
            worker = self.idle.pop()
            if not worker.ended():
                return worker
            worker.close()
        return Worker(self.script)

    def close(self) -> None:
        """End all processes."""
        while self.idle:
            self.idle.pop().close()


class _Run:
    """The waiting requests, and the busy workers with their requests and deadlines."""

    def __init__(
        self, pool: ProcessPool, requests: Sequence[Request], report: Report, seconds: float
    ) -> None:
        self.pool = pool
        self.requests = requests
        self.report = report
        self.seconds = seconds
        self.waiting = deque(range(len(requests)))
        self.busy: dict[Any, tuple[Worker, int, float]] = {}

    def finish(self) -> None:
        try:
            while self.waiting or self.busy:
                self._start()
                self._collect()
        finally:  # interrupted: results that are still being compiled are not needed
            for worker, _, _ in self.busy.values():
                worker.close()

    def _start(self) -> None:
        while self.waiting and len(self.busy) < self.pool.size:
            index = self.waiting.popleft()
            worker = self.pool.worker()
            start = self.pool.start_seconds if worker.is_new else 0.0
            self.busy[worker.connection] = worker, index, monotonic() + start + self.seconds
            with suppress(BrokenPipeError, ConnectionResetError):  # it ended: `_collect` sees it
                worker.connection.send(self.requests[index])

    def _collect(self) -> None:
        first = min(deadline for _, _, deadline in self.busy.values())
        ready = wait(list(self.busy), max(0.0, first - monotonic()))
        for connection in list(self.busy):
            worker, index, deadline = self.busy[connection]
            if connection not in ready and monotonic() < deadline:
                continue
            del self.busy[connection]
            self._take(worker, index, connection in ready)

    def _take(self, worker: Worker, index: int, is_ready: bool) -> None:
        if not is_ready:
            worker.close()
            error = f"the process took over {self.seconds:g} seconds"
            return self.report(index, {"error": error, "ended": TIMEOUT})
        try:
            reply = worker.connection.recv()
        except (EOFError, ConnectionResetError):
            farewell = worker.exit_reason()
            worker.close()
            if farewell:
                return self.report(index, {"error": farewell, "ended": CRASH})
            return self.waiting.appendleft(index)  # it had waited long enough and went
        worker.is_new = False
        if reply == READY:
            self.busy[worker.connection] = worker, index, monotonic() + self.seconds
            return None
        self.pool.idle.append(worker)
        return self.report(index, reply)


def _environment(folder: str) -> dict[str, str]:
    """Drop the user's variables for Triton and LLVM, which would change code that is cached."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "TRITON_HOME": folder, "TRITON_DISABLE_LINE_INFO": "1"}
