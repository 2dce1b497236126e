"""The package that a command is about: opened, or compiled from the model that is given."""

import argparse
from typing import Any

from ..runtime.package import Package
from . import arguments
from .progress import shown_progress


def given_package(flags: argparse.Namespace, **defaults: Any) -> Package:
    """Open the package at `flags.model`, or compile the model there.

    `defaults` are options of the compilation that flags override. The flags are those of
    `add_key_argument` and `add_compile_arguments`; those of the other kind of file are refused.
    """
    if not arguments.is_package(flags.model):
        from ..compiler.driver import build

        arguments.refuse_key(flags, flags.model)
        given = {**defaults, **arguments.compile_arguments(flags)}
        with shown_progress() as progress:
            return build(flags.model, progress=progress, **given)
    if given := arguments.given_compile_arguments(flags):
        flags.refuse(f"{', '.join(given)}: '{flags.model}' is compiled already")
    return arguments.open_package(flags, flags.model)
