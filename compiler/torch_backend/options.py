"""The options of `torch.compile` for Trivium: those of `trivium.compile`."""

import difflib
from collections.abc import Mapping
from typing import Any

import torch

from ...dialects.core.errors import CompileError, Diagnostic
from ...targets.option import options_of
from ...targets.options import CompileOptions

DECIDED = (
    *("example_inputs", "example_inputs2", "dynamic_shapes", "shapes", "exact", "constants"),
    "candidates",
)
"""What torch decides for each graph: its inputs, their sizes, and which of them are constants."""


def read_options(given: Mapping[str, Any] | None, mode: str | None) -> dict[str, Any]:
    """Return keywords for `trivium.compile`; `threads` are those of torch by default.

    Raises CompileError that lists all that are unknown or wrong.
    """
    if mode is not None:
        advice = 'give options={"precision": ...}; docs/frontends/torch-compile.md lists them'
        raise CompileError([Diagnostic("", f"mode is '{mode}', which Inductor has", (advice,))])
    options = dict(given or {})
    known = [each.name for each in options_of(CompileOptions) if each.name not in DECIDED]
    faults = [_unknown(name, known) for name in options if name not in known]
    if faults:
        raise CompileError(faults)
    CompileOptions(**options)
    return {"threads": torch.get_num_threads(), **options}


def _unknown(name: str, known: list[str]) -> Diagnostic:
    if name in DECIDED:
        return Diagnostic("", f"option '{name}' is what torch.compile decides: leave it out")
    near = difflib.get_close_matches(name, known, 1)
    advice = f"did you mean '{near[0]}'?" if near else f"the options are {', '.join(known)}"
    return Diagnostic("", f"option '{name}' is unknown", (advice,))
