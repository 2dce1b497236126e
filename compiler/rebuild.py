"""Compile the IR of a package again: for another CPU, or by another version of the compiler."""

from dataclasses import replace

from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.mlir import new_context
from ..passes.pipeline import Pipeline
from ..runtime.manifest import Manifest
from ..runtime.package import Package
from ..runtime.refit.part import RefitPart
from ..targets.memory.weight_pool import WeightPools
from ..targets.option import changed_options
from ..targets.options import CompileOptions
from ..targets.registry import choose_targets
from .assemble import BYTECODE, Assembled, package_of
from .build import compile_module
from .exact.combine import combined
from .packaged import packaged_module, targets_of
from .refit.hold_weights import hold_weights


def rebuild(package: Package, asked: CompileOptions) -> Package:
    """Generate code for the machines of `asked` from the placed IR and the weights of a package.

    The code has the form of `asked`: objects, or C. Raises CompileError for other options than
    those that apply, when the package holds no IR that this version reads, for a machine that there
    is not, and for a package with programs of accelerators.
    """
    _check_options(asked)
    pools: WeightPools = {}
    manifest = package.manifest
    threads = asked.threads or manifest.settings.threads or None
    cores = manifest.settings.cores if asked.cores is None else asked.cores
    asked = replace(asked, threads=threads, cores=cores)
    if manifest.only_exact:
        main = Assembled(replace(manifest, exact=(), entries=(), settings=asked.settings), {})
    else:
        main = _compiled(package, asked, pools)
    if not manifest.exact:
        return package_of(main, pools)
    programs = [
        (program.sizes, _compiled(each, asked, pools))
        for program, each in zip(manifest.exact, package.exact, strict=True)
    ]
    return combined(main, programs, pools, choose_targets(targets_of(manifest)))


def _check_options(asked: CompileOptions) -> None:
    """Raise CompileError for options that differ from their defaults and apply to models alone."""
    given = [each.name for each in changed_options(asked) if not each.rebuilds]
    if given:
        raise CompileError(
            f"{', '.join(given)}: a package keeps what it was compiled with; compile the model "
            "again for others"
        )


def _compiled(package: Package, asked: CompileOptions, pools: WeightPools) -> Assembled:
    """Compile the IR of one program; `pools` get its weights."""
    with new_context():
        module = packaged_module(package)
        manifest = package.manifest
        math = manifest.math
        options = type(asked)(
            target=targets_of(manifest),
            math=math.mode,
            winograd_error=math.winograd_error,
            precision=math.precision,
            machine=asked.machine,
            progress=asked.progress,
            threads=asked.threads,
            cores=asked.cores,
            hooks=asked.hooks,
        )
        targets = choose_targets(targets_of(manifest))
        names = [name for target in targets for name in target.kept_entries]
        kept = {name: bytes(package.entries[name]) for name in names if name in package.entries}
        updated = {weight.name for weight in manifest.part(RefitPart).weights}
        if updated:
            hold_weights(module, updated)
        work = (Pipeline(), options, manifest.source, kept, (), pools)
        built = compile_module(module, *work)
    _check_ports(built.manifest, manifest)
    if lost := updated - {weight.name for weight in built.manifest.part(RefitPart).weights}:
        raise CompileError(
            f"the IR of the package lacks weights that may be updated: {', '.join(sorted(lost))}: "
            "compile the model again"
        )
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
