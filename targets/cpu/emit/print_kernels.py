"""Print kernels of the CPU: as kernel IR at any level, and as LLVM IR."""

from ....dialects.core.errors import CompileError
from ....dialects.core.location import node_names
from ....dialects.core.mlir import upstream
from ....dialects.core.module import Module
from ...emitter import Emitter
from ..kernels.kernel_module import KernelModule, kernel_modules

llvm = upstream("llvm")

_PASSES = "fuse-epilogues,place{targets=cpu},lower-to-kernels"


def print_kernels(module: Module) -> list[str]:
    """Return the IR of each kernel with the names of its nodes."""
    return [f"{_nodes(kernel, '//')}{kernel.operation}\n" for kernel in kernel_modules(module)]


def print_llvm(module: Module) -> list[str]:
    """Return the LLVM IR of each kernel; raise CompileError for one of other dialects."""
    return [_llvm(kernel) for kernel in kernel_modules(module)]


def _llvm(kernel: KernelModule) -> str:
    if kernel.function.name != "llvm.func":
        raise CompileError(
            f"kernel '{kernel.symbol}' is not of the llvm dialect: --emit=llvm prints kernels that "
            "--convert-kernels-to-llvm converted"
        )
    text: str = llvm.translate_module_to_llvmir(kernel.alone().operation)
    return _nodes(kernel, ";") + text


def _nodes(kernel: KernelModule, comment: str) -> str:
    names = node_names(kernel.operation.location)
    return f"{comment} {' + '.join(names)}\n" if names else ""


EMITTERS = (
    Emitter(
        "kernels",
        print_kernels,
        "the IR has no kernels for a CPU: --emit=kernels prints those that --lower-to-kernels "
        f"makes of groups on the CPU; those of a model: -p '{_PASSES}'",
    ),
    Emitter(
        "llvm",
        print_llvm,
        "the IR has no kernels for a CPU: --emit=llvm prints those that --lower-to-kernels and "
        "--convert-kernels-to-llvm make of groups on the CPU; those of a model: "
        f"-p '{_PASSES},split-phases,name-kernels,legalize-kernels,convert-kernels-to-llvm'",
    ),
)
