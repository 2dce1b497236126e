"""See that a compiled torch module computes what the module does: `pnnx` loses parts of some.

It has been seen to leave out masks and casts without a word, and only numbers show that.
"""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dialects.core.tensor import Array
from ..runtime.contents import Port
from ..runtime.session import Session
from .frontends.pnnx.run_pnnx import run_module

if TYPE_CHECKING:
    from .frontends.torch.torch_types import TorchModule

TOLERATED = 0.05
"""By how much of its largest number an output may differ; nothing that is lost is as small."""


def compare(session: Session, module: "TorchModule", example: tuple[Any, ...]) -> None:
    """Run a module and what was compiled of it on an example; warn where they differ."""
    inputs, expected = run_module(module, example)
    if len(inputs) != len(session.inputs):
        return  # some are constants, of which the values need not be those of the example
    if not all(map(_fits, session.inputs, inputs)):
        return  # the user has bound sizes that are not those of the example
    feeds = {port.name: array for port, array in zip(session.inputs, inputs, strict=True)}
    for (name, got), want in zip(session.run(feeds).items(), expected, strict=True):
        difference = _difference(got, want)
        if difference > TOLERATED:
            warnings.warn(
                f"output '{name}' differs by {difference:.0%} from what the torch module computes "
                "on the example inputs: pnnx may have lost a part of it",
                stacklevel=3,
            )


def _fits(port: Port, array: Array) -> bool:
    """Return whether an array may have the shape of an input, which has names for free sizes."""
    pairs = zip(port.shape, array.shape, strict=False)
    return all(isinstance(size, str) or size == found for size, found in pairs)


def _difference(got: Array, want: Array) -> float:
    """Return the largest difference, as a part of the largest number; numbers only, not NaN."""
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    got, want = got.astype(wide), want.astype(wide)
    finite = np.isfinite(want) & np.isfinite(got)
    if not finite.any():
        return 0.0
    scale = float(np.abs(want[finite]).max())
    apart = float(np.abs(got - want)[finite].max())
    return apart / scale if scale else float(apart > TOLERATED)
