"""Sign a package, so that others can refuse what the owner of a key has not built.

The signature is part of the package, in place of an earlier one; nothing is compiled again.
Commands that open a package verify it with --verify-key. Both need the package cryptography:
pip install 'trivium[sign]'.
"""

import argparse

from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package", metavar="PACKAGE", nargs="?", help="the package (.trv) to sign")
    keys = parser.add_mutually_exclusive_group(required=True)
    keys.add_argument(
        "--key", metavar="FILE", help="the private Ed25519 key to sign with, in PEM form"
    )
    keys.add_argument(
        "--new-key",
        metavar="FILE",
        help="make a key first: the private one in FILE, the public one in FILE.pub",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT.trv",
        type=arguments.package_path,
        help="the file of the signed package, PACKAGE itself by default",
    )


def run(flags: argparse.Namespace) -> None:
    """Make a key if that was asked for, and sign a package if one is given."""
    from ...runtime.file.signature import new_key
    from ...runtime.package import Package

    if not flags.package and (flags.key or flags.output):
        flags.refuse("the following arguments are required: PACKAGE")
    if flags.new_key:
        print(f"{flags.new_key}: a new private key; {flags.new_key}.pub: {new_key(flags.new_key)}")
    if flags.package:
        signed = Package.open(flags.package).sign(flags.new_key or flags.key)
        output = flags.output or flags.package
        signed.save(output)
        assert signed.signature is not None
        print(f"{output}: signed by {signed.signature.fingerprint}")
