"""Try whether ops with symbols can be lowered, before they are placed; the cache keeps answers.

While a model is compiled, what trials lower is kept: kernels are lowered once.
"""

from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ....dialects import tri
from ....dialects.core.machine import LEVELS, find_machine
from ....dialects.core.module import Module
from ...options import CompileOptions
from ...size_trial import SizeTrial, fault_of
from ..lower.group import structure
from ..lower.to_kernels import LowerToKernels
from .kernel_cache import recall_kernel, remember_kernel, source_of
from .kernel_pipeline import module_of

_Key = tuple[LowerToKernels, Hashable]


@dataclass
class _Trials:
    """Hold the passes by which a model is lowered, and what they made of each structure."""

    lowerings: tuple[LowerToKernels, ...]
    lowered: dict[_Key, Module] = field(default_factory=dict[_Key, Module])


_TRIALS: ContextVar[_Trials | None] = ContextVar("_TRIALS", default=None)
_WIDEST = (LowerToKernels(LEVELS[-1].name),)


@contextmanager
def lowered_once(options: CompileOptions) -> Generator[None]:
    """Return a context in which kernels are tried for the machines of `options`, and kept."""
    lowerings = (LowerToKernels(each.name, options.strict_math) for each in options.machines)
    token = _TRIALS.set(_Trials(tuple(lowerings)))
    try:
        yield
    finally:
        _TRIALS.reset(token)


def take_lowered(same: Hashable, lowering: LowerToKernels) -> Module | None:
    """Return a module with a group of a structure and its kernel, if a trial kept one."""
    trials = _TRIALS.get()
    return trials.lowered.pop((lowering, same), None) if trials else None


def _asked(group: tri.Group) -> Hashable:
    trials = _TRIALS.get()
    return trials.lowerings if trials else _WIDEST, structure(group)


def _recalled(group: tri.Group, module: Module, asked: Any) -> str:
    lowerings, same = asked
    faults = (_fault_of(group, same, lowering) for lowering in lowerings)
    return next(filter(None, faults), "")


def _fault_of(group: tri.Group, same: Hashable, lowering: LowerToKernels) -> str:
    machine = find_machine(lowering.machine)
    source = source_of(group, same, f"undecided by {lowering} for {machine}")
    if (found := recall_kernel(source)) is not None:
        return found.decode()
    module = module_of(group)
    fault = fault_of(lambda: lowering.run(module))
    remember_kernel(source, fault.encode())
    if not fault and (trials := _TRIALS.get()):
        trials.lowered[lowering, same] = module
    return fault


TRIAL = SizeTrial("cpu", _asked, _recalled)
