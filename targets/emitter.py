"""`Emitter`: a form in which a target prints its kernels, for `trivium-opt --emit`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..dialects.core.errors import CompileError
from ..dialects.core.module import Module


@dataclass(frozen=True)
class Emitter:
    """Print the kernels in a module, one text for each.

    `missing` is the error for a module without such kernels: the passes that make them.
    """

    name: str
    emit: Callable[[Module], Sequence[str]]
    missing: str

    def text(self, module: Module) -> str:
        """Return the texts of all kernels, parted by empty lines; CompileError without any."""
        texts = self.emit(module)
        if not texts:
            raise CompileError(self.missing)
        return "\n\n".join(texts)
