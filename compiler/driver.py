"""From a model to a session: frontend, passes, placement, code, package."""

from collections.abc import Callable, Mapping
from pathlib import Path

from ..dialects import tri
from ..dialects.core.machine import host_machine
from ..dialects.core.mlir import ir, new_context
from ..dialects.core.module import Module, ops
from ..dialects.core.tensor import Array
from ..passes.pipeline import Pipeline
from ..runtime.package import Package
from ..runtime.session import Session
from ..targets.cpu.compile import CpuCode, compile_kernels
from ..targets.program import Call, lay_out
from .assemble import assemble
from .frontends.onnx import Bindings, Source, import_onnx
from .stages import pipeline_for

Progress = Callable[[str], None]


def compile(
    model: Source,
    target: str = "cpu",
    *,
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
    opt_level: int = 2,
    progress: Progress | None = None,
) -> Session:
    """Compile an ONNX model and return a session that runs it.

    `model` is a path, the bytes of a file, or an `onnx.ModelProto`. `target` is where it should
    run; what that target does not take runs on the host, by reference kernels. `shapes` gives
    sizes to symbolic dimensions (`{"N": 1}`) or to whole inputs; `constants` fixes inputs to
    values. `opt_level` is 0 (as written), 1 (folding) or 2 (fusion). `progress` is called with
    a line of text as work goes on. Raises CompileError, which lists everything that is wrong.
    """
    return Session(build(model, target, shapes, constants, opt_level, progress))


def build(
    model: Source,
    target: str = "cpu",
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
    opt_level: int = 2,
    progress: Progress | None = None,
) -> Package:
    """Compile a model to a package; arguments and errors are those of `compile`."""
    report = progress or (lambda line: None)
    pipeline = pipeline_for(target, opt_level)
    with new_context():
        report("import")
        module = import_onnx(model, shapes=shapes, constants=constants)
        return build_module(module, pipeline, target, report, _name(model))


def build_module(
    module: Module, pipeline: Pipeline, target: str, progress: Progress, source: str
) -> Package:
    """Compile a `tri` module to a package, in the current context."""
    progress("optimise")
    pipeline.run(module)
    groups = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
    native = [group for group in groups if group.target == "cpu"]
    code = compile_kernels(native, host_machine(), progress)
    calls = [_call(group, code) for group in groups]
    program = lay_out(module, calls)
    return assemble(module, program, code, target=target, source=source)


def _call(group: tri.Group, code: CpuCode) -> Call:
    kernel = code.kernels.get(group)
    operands: list[ir.Value] = list(group.operation.operands)
    results: list[ir.Value] = list(group.results)
    return Call(group, tuple(operands), tuple(results), kernel.scratch if kernel else ())


def _name(model: Source) -> str:
    if isinstance(model, (bytes, bytearray, memoryview)) or hasattr(model, "graph"):
        return ""
    return Path(str(model)).name
