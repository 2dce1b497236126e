"""`Source`: a kernel as text that Triton compiles."""

import hashlib
import textwrap
from dataclasses import dataclass, field

from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import divides
from ....dialects.tile.types import Memory
from .wrapping import WIDTH


@dataclass(frozen=True)
class Parameter:
    """A parameter of the printed function, for one argument of the kernel.

    `type` is Triton's: `*fp32` for a pointer, `tensordesc<fp16[128, 64]>` for a tensor descriptor.
    `argument` is the number of the argument of the `tile.kernel`, and `memory` the layout of its
    tensor.
    """

    name: str
    type: str
    argument: int
    memory: Memory

    @property
    def is_descriptor(self) -> bool:
        return self.type.startswith("tensordesc")


@dataclass(frozen=True)
class SizeParameter:
    """A parameter of the printed function, for a size that depends on symbols: an i32."""

    name: str
    size: Size

    @property
    def type(self) -> str:
        """Return Triton's type; code may use that a size is a multiple of 16."""
        return "i32:16" if divides(16, self.size) else "i32"


@dataclass(frozen=True)
class Source:
    """The text of a Python module that defines the kernel `name`, and its launch.

    The function takes `parameters`, then `sizes`, then a value for each of `constexprs`. `grid`
    counts programs along each axis of a launch, which may depend on symbols. `nodes` are the nodes
    of the model that the kernel computes.
    """

    text: str
    name: str
    parameters: tuple[Parameter, ...]
    constexprs: tuple[tuple[str, int], ...] = ()
    grid: tuple[Size, Size, Size] = (1, 1, 1)
    nodes: tuple[str, ...] = field(default=(), compare=False)
    sizes: tuple[SizeParameter, ...] = ()

    @property
    def signature(self) -> dict[str, str]:
        """Return the type of each parameter, in order."""
        return {each.name: each.type for each in (*self.parameters, *self.sizes)}

    @property
    def module(self) -> str:
        """Return a name for the module that depends on all of its text."""
        return f"{self.name}_{hashlib.sha256(self.text.encode()).hexdigest()[:12]}"

    @property
    def file(self) -> str:
        """Return the text below a comment with its nodes, and with a launch as Triton writes it."""
        nodes = textwrap.wrap(", ".join(self.nodes), WIDTH - 2, break_long_words=False)
        arguments = [f"{each.name}: {each.type}" for each in self.parameters]
        arguments += [f"{each.name}={each.size}" for each in self.sizes]
        arguments += [f"{name}={value}" for name, value in self.constexprs]
        launch = [f"{self.name}[{self.grid}](", *(f"    {each}," for each in arguments), ")"]
        comment = [*nodes, *([""] if nodes else []), *launch]
        return "\n".join([*(f"# {line}".rstrip() for line in comment), "", self.text])
