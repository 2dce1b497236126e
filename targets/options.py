"""`Options`: what a user decides about generated code: its numbers, schedules and machines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf as infinity
from pathlib import Path

from ..dialects.core.arguments import (
    Check,
    checked,
    flag,
    names,
    number,
    one_of,
    optional,
    path,
)
from ..dialects.core.errors import CompileError
from ..dialects.core.machine import NATIVE, Machine, checked_names, find_machines
from ..runtime import SUFFIX

FAST, STRICT = "fast", "strict"
MATHS = (FAST, STRICT)

F32, TF32 = "f32", "tf32"
HALVES = {"fp16": "f16", "bf16": "bf16"}
"""The precisions in which values are stored in half of the bytes, and their element types."""

PRECISIONS = (F32, TF32, *HALVES)

FLOATS, INTEGERS = "floats", "integers"
QUANTIZED = (FLOATS, INTEGERS)
"""What quantised models are computed in."""

WINOGRAD_ERROR = 2e-6
"""What a layer may lose by Winograd's method unless the user says otherwise: 2x2 tiles fit."""


@dataclass(frozen=True)
class Options:
    """Hold what code generation may do to numbers, and which machines it is for.

    `math` is "fast", or "strict": no approximations, nothing that rounds otherwise than the ops
    say; docs/numerics.md has more. `winograd_error` is what Winograd's method may lose, relative to
    the largest output of a layer. `tuning` names a tuning file whose schedules are used, `tune` one
    that also takes up what it lacks; docs/tuning.md has more. `machine` names the CPUs that code is
    made for, one or several. `precision` is what f32 is computed in: f32, tf32, fp16 or bf16.
    `quantized` is what quantised numbers are computed in, where a target leaves the choice: floats
    that round as the model says, or integers alone; docs/quantization.md has more.
    `placement` is the policy that chooses a target for each op: "engine-order", "cost", "single",
    or a user's own as `module:Class`; docs/placement.md has more. With `candidates`, kernels for
    GPUs are made with other settings too, for tuning to measure. Raises CompileError for anything
    else.
    """

    math: str = FAST
    winograd_error: float | None = None
    tuning: str = ""
    tune: str = ""
    machine: str | Sequence[str] = NATIVE
    precision: str = F32
    placement: str = "engine-order"
    candidates: bool = False
    quantized: str = FLOATS

    def __post_init__(self) -> None:
        for key, check in CHECKS.items():
            object.__setattr__(self, key, checked(key, getattr(self, key), check))
        machines = checked_names(self.machine)
        if self.tune and machines != (NATIVE,):
            raise CompileError(
                f"tune measures on this CPU, but machine is '{', '.join(machines)}': "
                f"leave out one of the two, or tune for '{NATIVE}' alone"
            )
        if self.tuning and self.tune:
            raise CompileError("tuning and tune name one file each: give only one of the two")
        if Path(self.tune).suffix == SUFFIX:
            raise CompileError(f"tune is '{self.tune}', must be a file of its own, not a package")
        if self.strict and self.winograd_error:
            raise CompileError(
                f"winograd_error is {self.winograd_error}, but strict math allows none: "
                "give only one of the two"
            )

    @property
    def machines(self) -> tuple[Machine, ...]:
        """Return the machines that code is made for, the most capable one first."""
        return find_machines(self.machine)

    @property
    def strict(self) -> bool:
        return self.math == STRICT

    @property
    def element_type(self) -> str:
        """The element type in which what the model has in f32 is stored."""
        return HALVES.get(self.precision, F32)

    @property
    def tuning_file(self) -> str:
        return self.tune or self.tuning

    @property
    def layer_error(self) -> float:
        """What Winograd's method may lose."""
        if self.winograd_error is None:
            return 0.0 if self.strict else WINOGRAD_ERROR
        return self.winograd_error


CHECKS: Mapping[str, Check] = {
    "math": one_of(MATHS),
    "winograd_error": optional(number("from 0 on", lambda error: 0 <= error < infinity)),
    "tuning": path,
    "tune": path,
    "machine": names,
    "precision": one_of(PRECISIONS),
    "candidates": flag,
    "quantized": one_of(QUANTIZED),
}
"""What the fields that a user gives must be."""

DEFAULT = Options()
