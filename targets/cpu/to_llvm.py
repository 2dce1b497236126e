"""From MLIR's core dialects to native object code for this machine."""

import ctypes
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...dialects.core.mlir import PassManager, execution_engine, ir

# The order matters: vectors become loops or intrinsics first, then everything LLVM dialect.
LOWERING = (
    "builtin.module("
    "func.func(canonicalize,cse,loop-invariant-code-motion),"
    "func.func(convert-vector-to-scf{full-unroll=true}),"
    "func.func(lower-affine),"
    "convert-scf-to-cf,"
    "expand-strided-metadata,lower-affine,"
    "convert-math-to-llvm,convert-math-to-libm,"
    "convert-vector-to-llvm{enable-x86=true reassociate-fp-reductions=%s},"
    "finalize-memref-to-llvm,"
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},"
    "convert-arith-to-llvm,convert-index-to-llvm,"
    "convert-cf-to-llvm,convert-ub-to-llvm,convert-func-to-llvm,"
    "reconcile-unrealized-casts,canonicalize,cse)"
)

_ANYWHERE = 1


def lowering(strict: bool) -> str:
    """Return the pipeline of MLIR's passes; when strict, lanes are summed up in their order."""
    return LOWERING % str(not strict).lower()


def to_object(module: ir.Module, externals: Sequence[str] = (), strict: bool = False) -> bytes:
    """Compile a module to a relocatable object for this machine's CPU; `module` is used up.

    The object is not position independent (plain 64-bit relocations only), which the run time's
    loader relies on. `externals` are functions that other objects define.
    """
    PassManager.parse(lowering(strict)).run(module.operation)
    engine = execution_engine()(module, opt_level=2, enable_object_dump=True)
    for name in externals:  # the engine links before it dumps: any address will do
        engine.raw_register_runtime(name, ctypes.c_void_p(_ANYWHERE))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.o"
        engine.dump_to_object_file(str(path))
        return path.read_bytes()
