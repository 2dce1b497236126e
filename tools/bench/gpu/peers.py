"""PyTorch on a GPU: its clock, and its ways to run a network or a product."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .measure import Contender, Launch

Array = np.ndarray[Any, Any]


class TorchClock:
    """Time work in PyTorch's current stream by events."""

    def time_us(self, work: Launch) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3

    def wait(self) -> None:
        torch.cuda.synchronize()


def graphed(run: Callable[[], Any], runs: int = 1) -> tuple[Launch, Any]:
    """Capture runs in a CUDA graph; return what launches it, and the output of the last run."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    output: Any = None
    with torch.cuda.graph(graph):
        for _ in range(runs):
            output = run()
    return graph.replay, output


def product(size: int, runs: int) -> Contender:
    """Multiply matrices of f16, `runs` times in a graph."""
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
    out = torch.empty_like(a)
    launch, _ = graphed(lambda: torch.matmul(a, b, out=out), runs)
    return Contender("torch.matmul", launch, runs)


class Peer:
    """Run a network in PyTorch, in f16 or in f32 without tf32."""

    def __init__(self, module: torch.nn.Module, inputs: tuple[Array, ...], half: bool) -> None:
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        dtype = torch.float16 if half else torch.float32
        self.module = module.to("cuda", dtype).eval()
        tensors = [torch.as_tensor(array, device="cuda") for array in inputs]
        self.inputs = tuple(t.to(dtype) if t.is_floating_point() else t for t in tensors)

    def reference(self) -> Array:
        """Return the output, in f32."""
        with torch.inference_mode():
            return self.module(*self.inputs).float().cpu().numpy()

    def eager(self) -> Contender:
        """Run it op by op, as one CUDA graph."""
        return self._graphed("eager", self.module)

    def compiled(self) -> Contender:
        """Run what torch.compile makes of it, as one CUDA graph."""
        made: Any = torch.compile(self.module)  # type: ignore[reportUnknownMemberType]
        return self._graphed("torch.compile", made)

    def tuned(self) -> Contender:
        """Run what torch.compile makes of it when it may take minutes, as one CUDA graph."""
        mode = "max-autotune-no-cudagraphs"
        made: Any = torch.compile(self.module, mode=mode)  # type: ignore[reportUnknownMemberType]
        return self._graphed("max-autotune", made)

    def _graphed(self, name: str, module: Callable[..., Any]) -> Contender:
        with torch.inference_mode():
            launch, _ = graphed(lambda: module(*self.inputs))
        return Contender(name, launch)


def stream() -> int:
    """Return PyTorch's current stream, as the driver knows it."""
    return int(torch.cuda.current_stream().cuda_stream)


def describe() -> dict[str, str]:
    """Describe the GPU and what PyTorch is made of."""
    return {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cuda": str(torch.version.cuda),
    }


def available() -> bool:
    """Return whether PyTorch finds a GPU."""
    return torch.cuda.is_available()
