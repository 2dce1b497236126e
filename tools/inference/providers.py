"""Execution providers: what onnxruntime calls targets."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from .errors import Fail

CPU, OWN = "CPUExecutionProvider", "TriviumExecutionProvider"

Provider: TypeAlias = "str | tuple[str, Mapping[str, Any]]"


def get_available_providers() -> list[str]:
    """Return the providers that a session may be asked for.

    Options of the second one are those of `trivium.compile`, such as `target`.
    """
    return [OWN, CPU]


def get_device() -> str:
    """Return where sessions run unless they are told."""
    return "CPU"


def compile_options(
    providers: Sequence[Provider] | None, options: Sequence[Mapping[str, Any]] | None
) -> tuple[list[str], dict[str, Any]]:
    """Return the names of providers, and what a model is compiled with for the first of them.

    Options may stand beside a name or in a list of their own. Raises Fail for others.
    """
    given = [CPU] if providers is None else list(providers)
    pairs = [_pair(each) for each in given]
    if options is not None:
        if len(options) != len(pairs):
            raise Fail(f"there are {len(options)} provider_options for {len(pairs)} providers")
        pairs = [(name, table) for (name, _), table in zip(pairs, options, strict=True)]
    names = [name for name, _ in pairs]
    if unknown := [name for name in names if name not in get_available_providers()]:
        known = ", ".join(get_available_providers())
        raise Fail(f"provider '{unknown[0]}' is not available, there are: {known}")
    name, table = pairs[0] if pairs else _pair(CPU)
    if name == CPU and table:
        raise Fail(f"options of {CPU} have no equivalent: {', '.join(table)}")
    return names, dict(table)


def _pair(given: Provider) -> tuple[str, Mapping[str, Any]]:
    return (given, {}) if isinstance(given, str) else given
