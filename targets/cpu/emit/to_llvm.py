"""From MLIR's core dialects to native object code for a machine."""

import ctypes
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ....dialects.core.machine import NATIVE, Machine, find_machine
from ....dialects.core.mlir import PassManager, execution_engine, ir, version
from ....dialects.core.module import Module, operations
from ....passes.core import Pass
from ..kernels.index import ROLLED
from ..kernels.kernel_module import kernel_modules
from .legalize import hide_masks, legalize

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

# Where LLVM spells a feature otherwise than Linux does.
_SPELLED = {
    **{"fpu": "x87", "pni": "sse3", "abm": "lzcnt", "bmi1": "bmi", "lahf_lm": "sahf"},
    **{"sse4_1": "sse4.1", "sse4_2": "sse4.2"},
}


def lowering(strict: bool) -> str:
    """Return the pipeline of MLIR's passes; when strict, lanes are summed up in their order."""
    return LOWERING % str(not strict).lower()


@cache
def recipe(machine: Machine, strict: bool) -> str:
    """Return all that an object depends on besides the text of its module."""
    rules = Path(legalize.__code__.co_filename).read_text()
    marks = str(function_attributes(machine))
    return "\n".join([version(), lowering(strict), str(machine), marks, rules])


def function_attributes(machine: Machine) -> dict[str, str]:
    """Return the attributes of functions for a machine, as text.

    Functions are never inlined: the engine wraps each in another function that is never called and
    would contain a copy of the code. Without `target_features`, LLVM uses all features of this CPU.
    """
    attributes = {"no_inline": "unit"}
    if machine.name != NATIVE:
        spelled = [f'"+{_SPELLED.get(name, name)}"' for name in machine.features]
        attributes["target_cpu"] = f'"{machine.name}"'
        attributes["target_features"] = f"#llvm.target_features<[{', '.join(spelled)}]>"
    return attributes


class ConvertKernelsToLlvm(Pass):
    """Convert kernels to the llvm dialect by MLIR's own passes.

    Without `strict`, the lanes of a vector are summed up in any order.

    func.func @k(%x: memref<8xf32>) { %0 = memref.load %x[%i] : memref<8xf32> … }
        =>   llvm.func @k(%x: !llvm.ptr) { %0 = llvm.load %1 : !llvm.ptr -> f32 … }
    """

    strict: bool = False

    def run(self, module: Module) -> None:
        with module.operation.context:
            for kernel in kernel_modules(module):
                convert_to_llvm(kernel.operation, self.strict, bool(kernel.words))


class SetTargetFeatures(Pass):
    """Set the attributes of the functions of kernels that tell LLVM which instructions to use.

    llvm.func @k(…)   =>   llvm.func @k(…) attributes {target_cpu = "x86-64-v3", …}
    """

    machine: str = NATIVE

    def run(self, module: Module) -> None:
        with module.operation.context:
            for kernel in kernel_modules(module):
                set_target_features(kernel.operation, find_machine(self.machine))


def to_object(
    module: ir.Module, machine: Machine, strict: bool = False, externals: Sequence[str] = ()
) -> bytes:
    """Compile a module to a relocatable object for a machine; `module` is used up.

    `externals` are functions that other objects define.
    """
    legalize(module.operation, machine)
    hide_masks(module.operation, machine)
    convert_to_llvm(module.operation, strict)
    set_target_features(module.operation, machine)
    return object_code(module, externals)


def convert_to_llvm(module: ir.Operation, strict: bool, rolls: bool = True) -> None:
    """Verify a module and convert it to the llvm dialect, in place.

    With `rolls`, there may be loops that are not to be unrolled.
    """
    module.verify()
    if rolls:
        _annotate_rolled(module)
    passes = PassManager.parse(lowering(strict))
    passes.enable_verifier(False)  # MLIR's own passes; verifying after each takes half the time
    passes.run(module)
    if rolls:
        _annotate_branches(module)


_CARRIED, _ANNOTATION = "llvm.loop_annotation", "loop_annotation"
"""The attribute that MLIR carries from a loop to its branch, and the one that LLVM is told."""


def _annotate_rolled(module: ir.Operation) -> None:
    for operation in operations(module):
        if ROLLED in operation.attributes:
            text = "#llvm.loop_annotation<unroll = <disable = true>>"
            operation.attributes[_CARRIED] = ir.Attribute.parse(text)


def _annotate_branches(module: ir.Operation) -> None:
    for operation in operations(module):
        if operation.name == "llvm.br" and _CARRIED in operation.attributes:
            operation.attributes[_ANNOTATION] = operation.attributes[_CARRIED]
            del operation.attributes[_CARRIED]


def set_target_features(module: ir.Operation, machine: Machine) -> None:
    """Set the attributes of each function that tell LLVM which instructions to use."""
    marks = {name: ir.Attribute.parse(t) for name, t in function_attributes(machine).items()}
    for operation in module.regions[0].blocks[0].operations:
        function = operation.operation
        if function.name != "llvm.func" or not function.regions[0].blocks:
            continue
        for name, attribute in marks.items():
            function.attributes[name] = attribute


def object_code(module: ir.Module, externals: Sequence[str] = ()) -> bytes:
    """Return a relocatable object of a module of the llvm dialect.

    The object is not position independent (plain 64-bit relocations only), which the run time's
    loader relies on. `externals` are functions that other objects define.
    """
    engine = execution_engine()(module, opt_level=2, enable_object_dump=True)
    for name in externals:  # the engine links before it dumps: any address will do
        engine.raw_register_runtime(name, ctypes.c_void_p(_ANYWHERE))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.o"
        engine.dump_to_object_file(str(path))
        return path.read_bytes()
