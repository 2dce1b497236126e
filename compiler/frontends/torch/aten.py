"""The rule of an overload of ATen, by its name or by that of the function that users call."""

from functools import cache
from typing import Any

from . import rules as rules
from .registry import REFUSED, RULES, Rule

_PLACES = ("torch", "Tensor", "F")
_PREFIXES = {"linalg_": "torch.linalg.", "fft_": "torch.fft.", "special_": "torch.special."}


@cache
def aten_rule(overload: str) -> Rule | None:
    """Return the rule of an overload, `aten::add.Tensor`, None where there is none.

    A rule names the overload, or all overloads of `aten::add`; else it is that of the function
    `torch.add`, of the method or of the function of `torch.nn.functional`.
    """
    packet, _, form = overload.partition(".")
    for key in (f"{packet}.{form or 'default'}", packet, *_functions(packet)):
        if key in RULES:
            return RULES[key]
    return None


def overload_name(overload: Any) -> str:
    """Return `aten::add.Tensor` for an overload of torch."""
    return str(overload.name()).removesuffix(".default")


def aten_refusal(overload: str) -> str:
    """Return why the function that an overload is will not be taken; empty where nothing says."""
    names = _functions(overload.partition(".")[0])
    return next((REFUSED[name] for name in names if name in REFUSED), "")


def _functions(packet: str) -> list[str]:
    namespace, _, name = packet.partition("::")
    if namespace != "aten":
        return [f"{namespace}.{name}"]
    found = [f"{place}.{name}" for place in _PLACES]
    for prefix, place in _PREFIXES.items():
        if name.startswith(prefix):
            found.append(place + name.removeprefix(prefix))
    return found
