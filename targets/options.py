"""`Options`: what a user decides about the numbers that generated code computes."""

import math as floats
from dataclasses import dataclass

from ..dialects.core.errors import CompileError

FAST, STRICT = "fast", "strict"
MATHS = (FAST, STRICT)

WINOGRAD_ERROR = 2e-6
"""What a layer may lose by Winograd's method unless the user says otherwise: 2x2 tiles fit."""


@dataclass(frozen=True)
class Options:
    """Hold what code generation may do to numbers; docs/numerics.md says what it does.

    `math` is "fast", or "strict": no approximations, nothing that rounds otherwise than the ops
    say. `winograd_error` is what Winograd's method may lose, relative to the largest output of a
    layer. Raises CompileError for anything else.
    """

    math: str = FAST
    winograd_error: float | None = None

    def __post_init__(self) -> None:
        if self.math not in MATHS:
            raise CompileError(f"math is '{self.math}', must be one of {', '.join(MATHS)}")
        if (error := self.winograd_error) is None:
            return
        if not (floats.isfinite(error) and error >= 0):
            raise CompileError(f"winograd_error is {error}, must be a number from 0 on")
        if self.strict and error:
            raise CompileError(
                f"winograd_error is {error}, but strict math allows none: give only one of the two"
            )

    @property
    def strict(self) -> bool:
        return self.math == STRICT

    @property
    def layer_error(self) -> float:
        """What Winograd's method may lose."""
        if self.winograd_error is None:
            return 0.0 if self.strict else WINOGRAD_ERROR
        return self.winograd_error


DEFAULT = Options()
