"""Code for GPUs as a manifest describes it: kernels, their parameters, launches."""

from dataclasses import dataclass, field

from ..errors import RunError
from ..frozen import Frozen
from ..kinds import LEFT_OUT
from ..sizes.size_expressions import Size
from ..step import Access, Step


class Launch(Frozen):
    """Run a kernel of the GPU; `buffers` are what its parameters count in.

    The last `results` of them are what it writes, 0 where nobody says.
    """

    kernel: str
    buffers: tuple[int, ...]
    nodes: tuple[str, ...] = ()
    results: int = field(default=0, metadata=LEFT_OUT)


@dataclass(frozen=True, kw_only=True)
class LaunchStep(Step):
    """Describe a step that launches kernels in order."""

    launches: tuple[Launch, ...]

    def accesses(self) -> list[Access]:
        if not all(launch.results for launch in self.launches):
            raise RunError(
                f"{', '.join(self.nodes)}: the package does not say what kernels write, so that "
                "memory must be 'static': compile the model again"
            )
        return [
            Access(each.buffers[: -each.results], each.buffers[-each.results :])
            for each in self.launches
        ]


class GpuParameter(Frozen):
    """Pass buffer number `buffer` of a launch to a kernel: its address, or a map of it.

    `kind` is `pointer` or `tensor_map`. A map (CUtensorMap) is of a tensor of `shape`, with
    `strides` in elements, read and written in blocks of shape `block`; `swizzle` is a number as
    CUtensorMapSwizzle has it. Shape, strides and dtype may be given of a pointer, too; they bound
    what the kernel reads and writes there.
    """

    kind: str
    buffer: int
    shape: tuple[Size, ...] = ()
    strides: tuple[Size, ...] = ()
    dtype: str = ""
    block: tuple[int, ...] = ()
    swizzle: int = 0


class GpuKernel(Frozen):
    """Describe a kernel that was compiled for a GPU.

    `entry` holds the cubin, in which the kernel is called `function`; `source` holds the text
    it was made from, unless that was left out of the package. The function takes the parameters in
    order, then `sizes` as 32-bit numbers, then two null pointers; a map is followed by its shape as
    32-bit numbers and its strides as 64-bit numbers. `grid` is how many programs run along x, y, z
    (nothing runs where one is 0), each on `warps` warps of 32 threads with `shared_bytes` of shared
    memory. `registers` and `spills` (in registers) are of each thread. `blocks` are the sizes it
    was made with, as "BM=128"; `setting` is all that it was made with, as tuning files have it.
    """

    symbol: str
    entry: str
    function: str
    grid: tuple[Size, ...]
    warps: int
    shared_bytes: int = 0
    registers: int = 0
    spills: int = 0
    parameters: tuple[GpuParameter, ...] = ()
    source: str = ""
    blocks: tuple[str, ...] = ()
    stages: int = 0
    triton: str = ""
    setting: str = ""
    sizes: tuple[Size, ...] = field(default=(), metadata=LEFT_OUT)


class GpuCode(Frozen):
    """Hold the kernels for one architecture, which is called as `sm_90`.

    `driver` is the least that cuDriverGetVersion must say for a driver to know such code, as 12000
    for CUDA 12.0; 0 where nobody knows. `candidates` are kernels as they might have been made, for
    tuning to measure: each has the symbol of the one that it could stand for.
    """

    architecture: str
    kernels: tuple[GpuKernel, ...]
    driver: int = 0
    candidates: tuple[GpuKernel, ...] = ()
