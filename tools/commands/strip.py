"""Leave out of a package what runs do not need: IR, list of calls, notes of tuning, GPU sources.

Without its IR a package is not compiled again, exported or searched for sizes; without the list of
its calls, it has no profiles, parts and pictures. Signatures are of what a package holds: sign the
result again. Constants in a file beside it are beside the result, too.
"""

import argparse

from ...runtime.errors import RunError
from ...runtime.file.optional_entries import KINDS, checked_kinds
from .. import arguments


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
    try:
        return checked_kinds(text.split(","))
    except RunError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(flags: argparse.Namespace) -> None:
    """Write what is left; raise RunError where there is nothing to leave out."""
    from ...runtime.spelling import spell_size

    package = arguments.open_package(flags, flags.model)
    left_out = [kind for kind in KINDS if kind not in flags.keep]
    if not {*left_out} & {*package.kept}:
        raise RunError(f"{flags.model}: has nothing of {', '.join(left_out)}")
    stripped = package.stripped(left_out)
    sizes = [sum(entry.size for entry in p.manifest.entries) for p in (package, stripped)]
    stripped.save(flags.output)
    print(f"{flags.output}: {spell_size(sizes[1])}, was {spell_size(sizes[0])}")
