"""Write a model as C: what `trivium compile --emit c` and `trivium.emit_c` do."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ...dialects.core.discovery import load_plugins
from ...dialects.core.errors import CompileError
from ...dialects.core.files import write_file
from ...runtime.contents import Contents
from ...runtime.package import Package
from ...targets.choices import C
from ...targets.option import changed_options
from ...targets.options import CompileOptions
from ..driver import build_with
from ..source import Source
from .refusals import check_program
from .source import CSource, included_headers

NAME = "model"

CPU, HOST = "cpu", "host"
"""The targets that code in C may have; what the first refuses is named as a step of the second."""

_CLIENT = "main"


def check_name(name: str) -> None:
    """Raise CompileError for what files and functions of C cannot be called."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", str(name)):
        raise CompileError(f"name is '{name}', must be small letters, digits and _")
    if name == _CLIENT or name in included_headers():
        raise CompileError(
            f"name is '{name}', must not be that of the client or of a header of the C library: "
            "choose another"
        )


@dataclass(frozen=True, kw_only=True)
class COptions(CompileOptions):
    """The options of a compilation to C: those of packages but for what only these record."""

    form: ClassVar[str] = C

    def check(self) -> None:
        """Raise CompileError for what only a package has, and for several machines."""
        refused = {each.name for each in changed_options(self) if each.package_only}
        refused |= {n for n in ("exact", "generate", "states", "keep") if getattr(self, n)}
        if refused:
            names = ", ".join(sorted(refused))
            raise CompileError(f"{names}: only packages have that, code in C has not: leave it out")
        named = [each.partition(":")[0].strip() for each in self.target.split(",")]
        if CPU not in named or not {CPU, HOST}.issuperset(named):
            raise CompileError(
                f"target is '{self.target}', must be '{CPU}': C is code for CPUs, which "
                "--machine chooses: leave out --target, or compile a package for this one"
            )
        if len(self.machines) > 1:
            names = ", ".join(machine.name for machine in self.machines)
            raise CompileError(f"machine is '{names}', must be one: code in C is for one machine")


@dataclass(frozen=True)
class CFolder:
    """Describe what was written: the folder, its files, and the inputs and outputs of the code."""

    path: Path
    files: tuple[str, ...]
    contents: Contents
    weight_file: str


def emit_c(
    model: Source | Package,
    folder: str | Path,
    example_inputs: Any = None,
    *,
    name: str = NAME,
    onnc: bool = False,
    **options: Any,
) -> CFolder:
    """Compile a model and write it as C: source, header, weights, build files, a client.

    The folder is made if it is not there; files of the same names are replaced. Functions, files
    and macros begin with `name`. With `onnc`, there is also the entry of ONNC's runtime,
    `model_main`, which the client calls, and the weight file ends in `.weight`. The options are
    those of `trivium.compile`. Of a package, or its path, the IR in it is compiled. Raises
    CompileError that lists all faults, also what has no form in C: nothing is written then.
    """
    check_name(name)
    chosen = COptions(example_inputs, **options)
    chosen.check()
    load_plugins(chosen.plugin_names)
    package = build_with(model, chosen)
    check_program(package.manifest, onnc)
    chosen.report("write C")
    source = CSource(package, chosen.machines[0], name, onnc)
    files, path = source.files(), Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CompileError(f"cannot write '{path}': {error.strerror}") from None
    for file, content in files.items():
        write_file(path / file, content)
    return CFolder(path, tuple(files), package.manifest, source.weight_file)
