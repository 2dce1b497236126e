"""The arguments of the public functions: checked and converted before any work.

Options are declared, with their checks, as the fields of `CompileOptions`.
"""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..dialects.core.arguments import Check, checked
from ..dialects.core.discovery import load_plugins
from ..dialects.core.errors import CompileError, Diagnostic
from ..targets.option import options_of
from ..targets.options import CompileOptions

P = ParamSpec("P")
M = TypeVar("M")
R = TypeVar("R")


def takes_options(
    make: Callable[P, CompileOptions],
) -> Callable[[Callable[[M, CompileOptions], R]], Callable[Concatenate[M, P], R]]:
    """Return a decorator that turns `function(model, options)` into `function(model, **keywords)`.

    `make` is the class `CompileOptions`, whose fields are the keywords: type checkers derive their
    types, the signature their defaults, and the docstring their help. A call raises CompileError
    that lists all wrong values.
    """
    parameters = list(inspect.signature(make).parameters.values())

    def decorate(function: Callable[[M, CompileOptions], R]) -> Callable[Concatenate[M, P], R]:
        @wraps(function)
        def call(model: M, *args: P.args, **kwargs: P.kwargs) -> R:
            options = make(*args, **kwargs)
            load_plugins(options.plugin_names)
            return function(model, options)

        signature = inspect.signature(function)
        model = signature.parameters["model"]
        call.__doc__ = f"{inspect.getdoc(function)}\n\n{_options_text()}"
        call.__dict__["__signature__"] = signature.replace(parameters=[model, *parameters])
        return call

    return decorate


def _options_text() -> str:
    """Return a paragraph for each option, with its help."""
    described = [f"`{each.name}`: {each.help}." for each in options_of(CompileOptions)]
    return "\n".join(
        textwrap.fill(text, 96, subsequent_indent="    ", break_on_hyphens=False)
        for text in described
    )


def checked_arguments(**own: Check) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that checks and converts a function's arguments before it runs.

    The checks are those of the options, and `own` ones of the function. A call raises CompileError
    that lists all arguments that a check refuses.
    """
    checks = {each.name: each.check for each in options_of(CompileOptions)} | own

    def decorate(called: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(called)

        @wraps(called)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(*args, **kwargs)
            _check_all(bound.arguments, checks)
            return called(*bound.args, **bound.kwargs)

        return call

    return decorate


def _check_all(arguments: dict[str, Any], checks: Mapping[str, Check]) -> None:
    """Convert arguments in place; raise CompileError that lists those that a check refuses."""
    faults: list[Diagnostic] = []
    for key in arguments.keys() & checks:
        try:
            arguments[key] = checked(key, arguments[key], checks[key])
        except CompileError as error:
            faults += error.diagnostics
    if faults:
        raise CompileError(sorted(faults, key=str))
