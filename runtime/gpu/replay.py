"""Run a package again and again at the cost of one call of the driver."""

import ctypes
import threading
from collections.abc import Mapping
from types import MappingProxyType

from ..errors import RunError
from .handles import Graph
from .workspace import Workspace


class Replay:
    """Hold a whole run as one graph, bound to arrays on the GPU.

    `inputs` and `outputs` are these arrays, by name. Each `launch` reads the inputs and writes the
    outputs anew; it returns before that is done.
    """

    def __init__(
        self,
        workspace: Workspace,
        graph: Graph,
        inputs: Mapping[str, object],
        outputs: Mapping[str, object],
        busy: threading.Lock,
        keep: object,
    ) -> None:
        self.inputs = MappingProxyType(dict(inputs))
        self.outputs = MappingProxyType(dict(outputs))
        self._workspace = workspace
        self._graph = graph
        self._busy = busy
        self._keep = keep
        # Looked up once, for a launch should cost next to nothing.
        driver = workspace.device.driver
        self._functions = tuple(
            driver.function(name)
            for name in ("cuCtxPushCurrent_v2", "cuGraphLaunch", "cuCtxPopCurrent_v2")
        )
        self._arguments = (workspace.device.context, graph.value, workspace.stream.value)
        self._popped = ctypes.byref(ctypes.c_void_p())

    @property
    def stream(self) -> int:
        """Return the stream in which `launch` works, as a number."""
        return self._workspace.stream.value.value or 0

    def launch(self, stream: int | None = None) -> None:
        """Start a run in `stream`, by default in the session's own, after what was started there.

        Runs share memory: a launch in another stream must wait for those before it.
        """
        push, launch, pop = self._functions
        context, graph, own = self._arguments
        self._workspace.device.check_process()
        if not self._busy.acquire(blocking=False):
            raise RunError("the session is running in another thread: give each thread a clone()")
        try:
            if self._workspace.closed:
                raise RunError("the session is closed: open the package again")
            code = push(context)
            if not code:
                code = launch(graph, own if stream is None else stream)
                pop(self._popped)
        finally:
            self._busy.release()
        if code:
            error = self._workspace.device.driver.error("cuGraphLaunch", code)
            raise RunError(f"the package cannot be launched: {error}")

    def synchronize(self) -> None:
        """Wait until all launches in the session's stream are complete; raise their errors."""
        with self._workspace:
            self._workspace.synchronize()
