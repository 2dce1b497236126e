"""List the kernels that targets have for ops: their kinds, layouts, element types and limits.

One op alone is listed with the layout and types of each operand and result; a kernel that takes
several sets of these has a row for each. An op may take fewer types than a
kernel of it: what it says itself holds besides. Ops without a kernel are numpy's, on the host, or
are decomposed: `trivium ops` lists them.
"""

import argparse

from ...runtime.errors import RunError
from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", metavar="NAME", default="", help="list the kernels of one")
    parser.add_argument(
        "--dtype", metavar="TYPE", default="", help="list the kernels that take a type, such as f16"
    )
    parser.add_argument(
        "--op", metavar="NAME", default="", help="list the kernels of ops with this in their names"
    )
    arguments.add_json_argument(parser)


def run(flags: argparse.Namespace) -> None:
    """Print the kernels; raise RunError where there are none of that kind."""
    from ...dialects.core.tensor import DTYPES
    from ..reports.json_report import json_text
    from ..reports.kernel_table import describe_lowerings, lowerings_info
    from ..reports.op_table import shipped_targets

    known = [target.name for target in shipped_targets()]
    if flags.target and flags.target not in known:
        raise RunError(f"no target is named '{flags.target}', there are {', '.join(known)}")
    if flags.dtype and flags.dtype not in dict(DTYPES):
        types = ", ".join(DTYPES)
        raise RunError(f"no element type is named '{flags.dtype}', there are {types}")
    info = lowerings_info(flags.target, flags.dtype, flags.op)
    if not info.kernels:
        given = ((name, getattr(flags, name)) for name in ("target", "dtype", "op"))
        asked = " ".join(f"--{name} {text}" for name, text in given if text)
        raise RunError(f"no kernel is of {asked}")
    print(json_text("kernels", info) if flags.json else describe_lowerings(info))
