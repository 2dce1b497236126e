"""`Source`: a kernel as text that Triton compiles."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Hold the text of a Python module that defines the kernel `name`, and how it is launched.

    `signature` has the parameters in order, each with its type in Triton's spelling: `*fp32`, or
    `tensordesc<fp16[128, 64]>`. `constexprs` has the values of the parameters that follow them.
    `grid` counts the programs along each axis.
    """

    text: str
    name: str
    signature: tuple[tuple[str, str], ...]
    constexprs: tuple[tuple[str, int], ...] = ()
    grid: tuple[int, int, int] = (1, 1, 1)
