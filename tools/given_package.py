"""The package that a command is about: opened, or compiled from the model that is given."""

import argparse
from typing import Any

from ..runtime.package import Package
from . import arguments
from .progress import shown_progress

ALL = "*"
"""The pattern of all values, for `keep`."""


def given_package(flags: argparse.Namespace, **defaults: Any) -> Package:
    """Open the package at `flags.model`, or compile the model there.

    `defaults` are options of the compilation that flags override. The flags are those of
    `add_key_argument` and `add_compile_arguments`; those of the other kind of file are refused.
    """
    if not arguments.is_package(flags.model):
        arguments.refuse_key(flags, flags.model)
        return compiled_package(flags, flags.model, **defaults)
    if given := arguments.given_compile_arguments(flags):
        flags.refuse(f"{', '.join(given)}: '{flags.model}' is compiled already")
    return arguments.open_package(flags, flags.model)


def compiled_package(flags: argparse.Namespace, model: str, **defaults: Any) -> Package:
    """Compile a model as flags say, and as `defaults` where they do not."""
    from ..compiler.driver import build

    given = {**defaults, **arguments.compile_arguments(flags)}
    with shown_progress() as progress:
        return build(model, progress=progress, **given)
