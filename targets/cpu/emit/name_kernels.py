"""Name kernels by their content: package entries and caches tell them apart by their names."""

import hashlib
from io import BytesIO

from ....dialects.core.attributes import from_attribute, to_attribute
from ....dialects.core.mlir import PassManager
from ....dialects.core.module import Module, functions, ops
from ....passes.core import Pass
from ..kernels.kernel_module import FUNCTION, KERNEL, KernelModule, kernel_modules


class NameKernels(Pass):
    """Name kernels by a digest of their code, and erase all but one of equal kernels.

    module @kernel_0 { func.func @kernel_0(…) { … } }
        =>   module @k_0123456789abcdef { func.func @k_0123456789abcdef(…) { … } }
    """

    def run(self, module: Module) -> None:
        renamed: dict[str, str] = {}
        with module.operation.context:
            for kernel in kernel_modules(module):
                symbol = _symbol(kernel)
                known = symbol in renamed.values()
                renamed[kernel.symbol] = symbol
                if known:
                    kernel.operation.erase()
                else:
                    kernel.symbol = symbol
            for function in functions(module.operation):
                for op in ops(function):
                    attributes = op.operation.attributes
                    if KERNEL in attributes:
                        name = from_attribute(attributes[KERNEL], str)
                        attributes[KERNEL] = to_attribute(renamed[name], str)


def _symbol(kernel: KernelModule) -> str:
    """Return the digest of a kernel without its name and locations, as bytecode.

    MLIR writes bytecode in a seventh of the time of text.
    """
    code = kernel.alone(FUNCTION).operation
    PassManager.parse("builtin.module(strip-debuginfo)").run(code)
    file = BytesIO()
    code.write_bytecode(file)
    return "k_" + hashlib.sha256(file.getvalue()).hexdigest()[:16]
