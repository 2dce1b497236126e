"""`Source`: a kernel as text that Triton compiles."""

import hashlib
from dataclasses import dataclass, field

from ...dialects.tile.types import Memory


@dataclass(frozen=True)
class Parameter:
    """Describe what a kernel is passed for one of its arguments.

    `type` is Triton's: `*fp32` for a pointer, `tensordesc<fp16[128, 64]>` for a tensor descriptor.
    `argument` says which argument of the `tile.kernel` it stands for, and `memory` how the tensor
    lies there.
    """

    name: str
    type: str
    argument: int
    memory: Memory

    @property
    def is_descriptor(self) -> bool:
        return self.type.startswith("tensordesc")


@dataclass(frozen=True)
class Source:
    """Hold the text of a Python module that defines the kernel `name`, and how it is launched.

    The function takes `parameters`, then a value for each of `constexprs`. `grid` counts programs
    along each axis of a launch. `nodes` are those of the model that the kernel computes.
    """

    text: str
    name: str
    parameters: tuple[Parameter, ...]
    constexprs: tuple[tuple[str, int], ...] = ()
    grid: tuple[int, int, int] = (1, 1, 1)
    nodes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def signature(self) -> dict[str, str]:
        """Return the type of each parameter, in order."""
        return {parameter.name: parameter.type for parameter in self.parameters}

    @property
    def module(self) -> str:
        """Return a name for the module that depends on all of its text."""
        return f"{self.name}_{hashlib.sha256(self.text.encode()).hexdigest()[:12]}"

    @property
    def file(self) -> str:
        """Return the text below a comment that lists the nodes."""
        lines = [f"# {node}" for node in self.nodes]
        return "\n".join([*lines, "", self.text] if lines else [self.text])
