"""Leave out of a package what runs do not need: its IR, the list of its calls, notes of tuning.

Without its IR a package is not compiled again, exported or searched for sizes; without the list of
its calls, it has no profiles, parts and pictures. Signatures are of what a package holds: sign the
result again.
"""

import argparse

from ...runtime.errors import RunError
from .. import arguments

KINDS = {"ir": "module.mlirbc", "calls": "calls.json", "tuning": "tuning.json"}
"""The entries that may be left out, by what they are."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="PACKAGE", help="the package (.trv)")
    parser.add_argument(
        "-o", "--output", metavar="OUT.trv", type=arguments.package_path, required=True
    )
    parser.add_argument(
        "--keep",
        metavar="KIND[,KIND...]",
        type=kinds,
        default=(),
        help=f"what stays of {', '.join(KINDS)}",
    )
    arguments.add_key_argument(parser)


def kinds(text: str) -> tuple[str, ...]:
    """Read `ir,calls`."""
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in KINDS:
            raise argparse.ArgumentTypeError(f"'{name}' must be one of {', '.join(KINDS)}")
    return names


def run(flags: argparse.Namespace) -> None:
    """Write what is left; raise RunError where there is nothing to leave out."""
    from ...runtime.spelling import spell_size

    package = arguments.open_package(flags, flags.model)
    left_out = {entry for kind, entry in KINDS.items() if kind not in flags.keep}
    stripped = package.without(left_out)
    sizes = [sum(entry.size for entry in p.manifest.entries) for p in (package, stripped)]
    if sizes[0] == sizes[1]:
        raise RunError(f"{flags.model}: has nothing of {', '.join(sorted(left_out))}")
    stripped.save(flags.output)
    print(f"{flags.output}: {spell_size(sizes[1])}, was {spell_size(sizes[0])}")
