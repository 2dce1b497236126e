"""The forms of native code: relocatable objects, and C that a compiler of the user reads."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from ....dialects.core.errors import CompileError
from ....dialects.core.location import node_names
from ....dialects.core.machine import LEVELS, Machine
from ....dialects.core.mlir import code_context, ir
from ....dialects.core.module import Module
from ....dialects.core.verification import Verify
from ....passes.pipeline import Instrumentation
from ...cache import cached
from ...choices import OBJECT, C
from ...options import DEFAULT, CompileOptions
from ..c.print_kernel import print_kernel
from ..c.print_program import print_program
from ..kernels.kernel_module import kernel_modules
from . import kernel_cache
from .call_table import KernelCall
from .kernel_pipeline import code_pipeline
from .segment import CLOCK, Segment, segment
from .share_phases import GRAIN
from .threads import threads_text
from .to_llvm import object_code, recipe, to_object


class Form(Protocol):
    """Make code of kernels and of the programs that call them; entries have its `suffix`."""

    suffix: str

    def check(self, machine: Machine) -> None:
        """Raise CompileError for a machine without code of this form."""
        ...

    def recipe(self, machine: Machine, strict: bool) -> str:
        """Return all that code depends on besides the text of its module."""
        ...

    def kernel(
        self,
        module: Module,
        machine: Machine,
        options: CompileOptions,
        hooks: Sequence[Instrumentation],
    ) -> bytes:
        """Return the code of the only kernel in a module, which is used up."""
        ...

    def segment(
        self,
        calls: Sequence[KernelCall],
        machine: Machine,
        options: CompileOptions,
        symbol: str | None,
    ) -> tuple[Segment, bytes]:
        """Return a program that makes calls, and its code."""
        ...


class ObjectForm:
    """Compile code by LLVM to relocatable objects."""

    suffix = ".o"

    def check(self, machine: Machine) -> None:
        if machine.architecture != LEVELS[0].architecture:
            raise CompileError(
                f"machine '{machine.name}' has no code in packages, its only form is C: "
                "give --emit c, or name a machine of x86-64"
            )

    def recipe(self, machine: Machine, strict: bool) -> str:
        return recipe(machine, strict)

    def kernel(
        self,
        module: Module,
        machine: Machine,
        options: CompileOptions,
        hooks: Sequence[Instrumentation],
    ) -> bytes:
        generating = code_pipeline(machine, options.strict_math)
        generating.run(module, *hooks, verify=Verify.NONE)
        (lowered,) = kernel_modules(module)
        return object_code(lowered.alone())

    def segment(
        self,
        calls: Sequence[KernelCall],
        machine: Machine,
        options: CompileOptions,
        symbol: str | None,
    ) -> tuple[Segment, bytes]:
        made = segment(calls, symbol=symbol)
        externals = ["share", CLOCK, *sorted({c.symbol for c in calls})]
        with code_context():
            return made, _compiled(made.text, machine, options.strict_math, externals)


class CForm:
    """Print code as C for a machine, all of whose functions are in one file in the end."""

    suffix = ".c"

    def check(self, machine: Machine) -> None:
        """Accept all machines."""

    def recipe(self, machine: Machine, strict: bool) -> str:
        return "\n".join(["C", kernel_cache.compiler(), recipe(machine, strict)])

    def kernel(
        self,
        module: Module,
        machine: Machine,
        options: CompileOptions,
        hooks: Sequence[Instrumentation],
    ) -> bytes:
        (lowered,) = kernel_modules(module)
        where = ", ".join(node_names(lowered.operation.location))
        return print_kernel(lowered.alone(), machine, options.strict_math, where).encode()

    def segment(
        self,
        calls: Sequence[KernelCall],
        machine: Machine,
        options: CompileOptions,
        symbol: str | None,
    ) -> tuple[Segment, bytes]:
        made = print_program(calls, GRAIN)
        return made, made.text.encode()


_FORMS: dict[str, Form] = {OBJECT: ObjectForm(), C: CForm()}


def form_of(options: CompileOptions) -> Form:
    """Return the form that native code has with some options."""
    return _FORMS[options.form]


def compile_threads() -> bytes:
    """Compile the functions of the thread pool: the same object code for all machines."""
    with code_context():
        return _compiled(threads_text(), LEVELS[0], DEFAULT.strict_math)


def _compiled(text: str, machine: Machine, strict: bool, externals: Sequence[str] = ()) -> bytes:
    source = "\n".join([recipe(machine, strict), text])
    return cached(
        source, partial(_object, text, machine=machine, strict=strict, externals=externals)
    )


def _object(text: str, machine: Machine, strict: bool, externals: Sequence[str]) -> bytes:
    return to_object(ir.Module.parse(text), machine, strict, externals)
