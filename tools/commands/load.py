"""Load a package as a program would: check the file, link its code, compute its constants.

With --check, the bytes that a run would read first are compared with their checksums, too.
With --verify-key, a package that nobody with an accepted key has signed is refused first.
"""

import argparse

from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package", metavar="PACKAGE", help="the package (.trv) to load")
    parser.add_argument(
        "--check",
        action="store_true",
        help="read the whole file and compare all checksums, those of weights, too, which a run "
        "would compare first",
    )
    arguments.add_load_arguments(parser)


def run(flags: argparse.Namespace) -> None:
    """Describe the session and the signature; a package that is refused is an error."""
    from ...runtime.session import Session
    from ..report import spell_signature
    from ..reports.package_info import signature_info

    package = arguments.open_package(flags, flags.package)
    session = Session(package, **arguments.session_options(flags))
    print(f"{flags.package}: {session!r}")
    signature = signature_info(package, bool(flags.verify_key))
    print(f"{flags.package}: {spell_signature(signature)}")
