"""Draw what a model or a package does: kernels, where they run, and what they hand on.

OUT ends in .dot, text for Graphviz, or in .svg, which the program dot of Graphviz makes of it.
"""

import argparse
import shutil
import subprocess

from ...runtime.errors import RunError
from .. import arguments
from ..given_package import given_package

DOT, SVG = ".dot", ".svg"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=f"a package (.trv), or {arguments.MODEL}")
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="a path that ends in .dot or .svg"
    )
    arguments.add_key_argument(parser)
    arguments.add_compile_arguments(parser)


def run(flags: argparse.Namespace) -> None:
    """Write the drawing, as a whole or not at all."""
    from ...dialects.core.files import replaced_file
    from ..reports.call_graph import graph_text

    if not flags.output.endswith((DOT, SVG)):
        flags.refuse(f"'{flags.output}' must end in {DOT} or {SVG}")
    program = shutil.which("dot")
    if flags.output.endswith(SVG) and program is None:
        raise RunError(f"{SVG} needs the program 'dot': install graphviz, or write {DOT}")
    text = graph_text(given_package(flags)).encode()
    if program is not None and flags.output.endswith(SVG):
        made = subprocess.run([program, "-Tsvg"], input=text, capture_output=True, check=False)
        if made.returncode:
            raise RunError(f"dot fails: {made.stderr.decode(errors='replace').strip()}")
        text = made.stdout
    with replaced_file(flags.output) as file:
        file.write(text)
