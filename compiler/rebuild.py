"""Compile the IR of a package again: for another CPU, or by another version of the compiler."""

from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.mlir import new_context
from ..passes.pipeline import Pipeline
from ..runtime.manifest import Manifest
from ..runtime.package import Package
from ..targets.options import CompileOptions
from ..targets.registry import choose_targets
from .assemble import BYTECODE
from .build import build_module
from .packaged import packaged_module, targets_of


def rebuild(package: Package, asked: CompileOptions) -> Package:
    """Generate code for the machines of `asked` from the placed IR and the weights of a package.

    Raises CompileError when the package holds no IR that this version reads, for a machine that
    there is not, and for a package with programs of accelerators.
    """
    with new_context():
        module = packaged_module(package)
        manifest = package.manifest
        math = manifest.math
        options = CompileOptions(
            target=targets_of(manifest),
            math=math.mode,
            winograd_error=math.winograd_error,
            precision=math.precision,
            machine=asked.machine,
            progress=asked.progress,
        )
        targets = choose_targets(targets_of(manifest))
        names = [name for target in targets for name in target.kept_entries]
        kept = {name: bytes(package.entries[name]) for name in names if name in package.entries}
        built = build_module(module, Pipeline(), options, manifest.source, kept)
    _check_ports(built.manifest, manifest)
    return built


def _check_ports(built: Manifest, expected: Manifest) -> None:
    """Raise CompileError unless the IR has the inputs and outputs of the package."""
    for which in ("inputs", "outputs"):
        found, wanted = (
            [(p.name, p.shape, p.dtype) for p in getattr(m, which)] for m in (built, expected)
        )
        if found != wanted:
            message = f"is not the IR of the package: its {which} are {found}, must be {wanted}"
            raise CompileError([Diagnostic(BYTECODE, message)])
