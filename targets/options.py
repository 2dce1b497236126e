"""`CompileOptions`: the options of a compilation, each declared once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf as infinity
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..dialects.core.arguments import (
    anything,
    arrays,
    flag,
    function,
    listed,
    name,
    names,
    number,
    optional,
    path,
    size_sets,
    sizes,
    texts,
    whole_number,
)
from ..dialects.core.errors import CompileError
from ..dialects.core.machine import NATIVE, Machine, checked_names, find_machines, machine_names
from ..runtime import SUFFIX
from ..runtime.cores import MOST_THREADS, parse_cores
from . import choices
from .generation_sizes import GenerationSizes, generation_text, sizes_of_generation
from .option import (
    check_options,
    comma_separated,
    declare,
    option,
    several_names,
    size_pair,
    size_set,
    text_pair,
)
from .option_checks import core_list, entry_kinds, file_beside, scales, share_of

if TYPE_CHECKING:
    from ..dialects.core.tensor import Array, Bindings
    from ..passes.pipeline import Instrumentation
    from ..passes.quantize.apply_scales import Scales
    from ..runtime.contents import RunSettings


@dataclass(frozen=True, kw_only=True)
class CompileOptions:
    """The options of a compilation, from the frontend to the session.

    Each field is a keyword of `trivium.compile` and of the functions like it, a flag of the command
    line, its check and its help: `option` declares all of them. Raises CompileError that lists all
    wrong values. Native code has the `form` of a class of options.
    """

    form: ClassVar[str] = choices.OBJECT
    example_inputs: Any = field(
        default=None,
        kw_only=False,
        metadata=declare(
            "the tensors that a torch module is called on; their shapes and types are compiled for",
            anything,
            flag=None,
        ),
    )
    dynamic_shapes: Any = option(
        None,
        "the sizes of example_inputs that are free, as torch.export takes them: for each input a "
        "dictionary or tuple of Dim, by axis",
        anything,
        flag=None,
    )
    example_inputs2: Any = option(
        None,
        "other tensors that a torch module is called on; the sizes in which they differ from "
        "example_inputs are free",
        anything,
        flag=None,
    )
    converter: str = option(
        choices.EXPORT,
        "what reads a torch module: export (the default, torch.export), or pnnx, which traces it",
        choices=choices.CONVERTERS,
        flag=None,
    )
    target: str = option(
        "cpu",
        "where to run: cpu (the default), host, a GPU such as gpu:sm_90, or an accelerator "
        "such as vanilla, or several in the order of preference, as in vanilla,gpu:sm_90,cpu; "
        "trivium-opt --list-targets lists all",
        name,
        metavar="NAME",
    )
    placement: str = option(
        "engine-order",
        "how a target is chosen for each op: engine-order (the default, the first that accepts), "
        "cost, single, or a policy of your own as module:Class",
        name,
        metavar="POLICY",
    )
    strict: bool = option(
        False,
        "refuse a model of which anything would run on another target, "
        "but for ops that convert values for an accelerator",
        flag,
    )
    shapes: "Bindings | None" = option(
        None,
        "size of a symbolic dimension, N=1, its range, T=1..512:128/8 (from..to:likely/step), "
        "or the sizes of a whole input, x=1x3x224x224",
        optional(sizes),
        flag="--shape",
        metavar="NAME=SIZE",
        parse=size_pair,
        collects="pairs",
    )
    exact: Sequence[Mapping[str, int]] = option(
        (),
        "sizes of all symbols that the package has a program of its own for, T=256,N=2; "
        "may be given several times",
        size_sets,
        metavar="NAME=SIZE[,NAME=SIZE...]",
        parse=size_set,
        collects="append",
    )
    generate: "GenerationSizes | Mapping[str, int] | bool | None" = option(
        None,
        "compile a decoder for trivium.Generator: texts of up to capacity tokens (4096), prompts "
        "in chunks (256), batch texts at once (1)",
        lambda value: value and optional(sizes_of_generation)(value),
        metavar="capacity=N[,chunk=N][,batch=N]",
        parse=generation_text,
    )
    inputs: str | Sequence[str] = several_names(
        "cut the model: values, by their names in it or patterns such as conv*, that become its "
        "inputs; what computes them is left out",
    )
    outputs: str | Sequence[str] = several_names(
        "cut the model: values, by their names in it or patterns, that become its outputs; what "
        "they do not need is left out",
    )
    keep: str | Sequence[str] = several_names(
        "values, by their names in the model or patterns, that a session keeps when it has run: "
        "session.value(name) returns them",
    )
    constants: "Mapping[str, Array] | None" = option(
        None, "inputs that are fixed to values, by their names", optional(arrays), flag=None
    )
    states: "Mapping[str, str] | None" = option(
        None,
        "the input that an output becomes in the next run, by its name: %d is any number, as in "
        "present.%d.key=past_key_values.%d.key; updated in place where the model writes rows of it",
        optional(texts),
        flag="--state",
        metavar="OUTPUT=INPUT",
        parse=text_pair,
        collects="pairs",
    )
    state_precision: str = option(
        choices.F32,
        "what f32 states are stored in where the model writes rows of them (f32 is the default): "
        "inputs and outputs have that type, and of int8 there are more, for the scales of rows",
        choices=(choices.F32, *choices.STATE_TYPES),
    )
    opt_level: int = option(
        2,
        "0: as written, 1: fold, 2: fold and fuse (the default)",
        choices=choices.LEVELS,
        parse=int,
    )
    disable: str | Sequence[str] = several_names(
        "passes to leave out, by their names; trivium-opt --list-passes lists all",
        flag="--disable-pass",
    )
    math: str = option(
        choices.FAST,
        "strict: no approximations, nothing rounds otherwise than the ops say",
        choices=choices.MATHS,
    )
    precision: str = option(
        choices.F32,
        "what f32 is computed in (f32 is the default); inputs and outputs keep their types",
        choices=choices.PRECISIONS,
    )
    keep_f32: str | Sequence[str] = several_names(
        "nodes, by name or pattern such as *norm*, that stay in f32 with precision fp16 or bf16",
        flag="--keep-f32",
        metavar="NODE[,NODE...]",
    )
    quantized: str = option(
        choices.FLOATS,
        "what a quantised model is computed in (floats is the default)",
        choices=choices.QUANTIZED,
    )
    quantization: "Scales | None" = option(
        None,
        "quantise the model by scales that the command quantize has found, or by a config of PPL",
        optional(scales),
        metavar="FILE.json",
    )
    activations: str = option(
        choices.AS_GIVEN,
        "what activations are rounded to before they are multiplied by weights of few bits: "
        "model (the default, what it says), exact (nothing), i8 (bytes, a scale for each block)",
        choices=choices.ACTIVATIONS,
    )
    winograd_error: float | None = option(
        None,
        "what a layer may lose by Winograd's method, as a part of its largest output: "
        "6e-6 unless said otherwise, 2e-6 allows small tiles alone, 1e-3 fp16 on nvdla, 0 none",
        optional(number("from 0 on", lambda error: 0 <= error < infinity)),
        metavar="ERROR",
        parse=float,
    )
    tuning: str = option(
        "",
        "a tuning file, or a package that was tuned, to take schedules from",
        path,
        metavar="FILE.json",
    )
    tune: str = option(
        "",
        "a tuning file to use, after measuring what it lacks; it is made where there is none",
        path,
        metavar="FILE.json",
        package_only=True,
    )
    tune_share: tuple[int, int] = option(
        (0, 1),
        "which of what a tuning file lacks is measured: number N of every M kinds of ops",
        share_of,
        flag=None,
    )
    machine: str | Sequence[str] = several_names(
        f"the CPUs to make code for: {', '.join(machine_names())} (the first is the default)",
        default=NATIVE,
        rebuilds=True,
    )
    candidates: bool = option(
        False,
        "for a GPU: keep kernels with other settings too, for the command tune to measure",
        flag,
        package_only=True,
    )
    refit: bool = option(
        False,
        "let sessions have other weights later, by session.update_weights: what is computed from "
        "weights is computed when a package is loaded",
        flag,
        package_only=True,
    )
    compress: bool = option(
        False,
        "compress the constants of the package by zstandard (trivium[compress]): its file is "
        "smaller, but sessions have constants in memory of their own and do not map the file's",
        flag,
        package_only=True,
        rebuilds=True,
    )
    strip: str | Sequence[str] = option(
        (),
        "what the package leaves out that no run needs: ir, calls, tuning, sources (of kernels for "
        "GPUs)",
        entry_kinds,
        metavar="KIND[,KIND...]",
        parse=comma_separated,
        package_only=True,
        rebuilds=True,
    )
    external_weights: str = option(
        "",
        "a file in the folder of the package that gets its constants, which other packages may "
        "share; by default they are in the package",
        file_beside,
        metavar="FILE",
        package_only=True,
        rebuilds=True,
    )
    plugins: str | Sequence[str] = option(
        (),
        "a plugin to import first, a module or a file.py: it registers ops, passes, frontend rules "
        "and formats",
        names,
        flag="--plugin",
        metavar="MODULE",
        collects="append",
        rebuilds=True,
    )
    progress: Callable[[str], None] | None = option(
        None,
        "called with a line of text as work goes on",
        optional(function),
        flag=None,
        rebuilds=True,
    )
    hooks: "Sequence[Instrumentation]" = option(
        (),
        "instrumentation that sees the IR around each pass: docs/opt.md",
        anything,
        flag=None,
        rebuilds=True,
    )
    threads: int | None = option(
        None,
        "on how many threads sessions run unless they are told, by default one for each core",
        optional(whole_number(1, MOST_THREADS)),
        metavar="N",
        parse=int,
        rebuilds=True,
        package_only=True,
    )
    cores: "str | Sequence[int] | None" = option(
        None,
        "the cores to which sessions of the package bind their threads unless they are told, as "
        "0-3,8; none by default",
        optional(core_list),
        metavar="LIST",
        rebuilds=True,
        package_only=True,
    )

    def __post_init__(self) -> None:
        check_options(self)
        machines = checked_names(self.machine)
        if self.tune and machines != (NATIVE,):
            raise CompileError(
                f"tune measures on this CPU, but machine is '{', '.join(machines)}': "
                f"leave out one of the two, or tune for '{NATIVE}' alone"
            )
        if self.tuning and self.tune:
            raise CompileError("tuning and tune name one file each: give only one of the two")
        if Path(self.tune).suffix == SUFFIX:
            raise CompileError(f"tune is '{self.tune}', must be a file of its own, not a package")
        if self.exact and self.candidates:
            raise CompileError(
                "candidates are measured for one program, exact asks for several: "
                "bind the sizes by shapes, and give one of the two"
            )
        if self.refit and (self.exact or self.generate):
            given = "exact" if self.exact else "generate"
            raise CompileError(f"refit is for one program, {given} asks for others: give one")
        if self.keep_f32 and self.element_type == choices.F32:
            raise CompileError(
                f"keep_f32 names nodes, but precision is '{self.precision}': nothing is in halves, "
                "leave out one of the two"
            )
        for which, given, why in (
            ("activations", self.activations == choices.BYTES, "rounds nothing of its own"),
            ("winograd_error", self.winograd_error, "allows none"),
        ):
            if self.strict_math and given:
                fault = f"{which} is {getattr(self, which)!r}, but strict math {why}"
                raise CompileError(f"{fault}: give only one of the two")

    @property
    def machines(self) -> tuple[Machine, ...]:
        """Return the machines that code is made for, the most capable one first."""
        return find_machines(self.machine)

    @property
    def settings(self) -> "RunSettings":
        """Return how sessions of the package run unless they are told."""
        from ..runtime.contents import RunSettings  # which imports numpy

        return RunSettings(self.threads or 0, parse_cores(self.cores))

    @property
    def plugin_names(self) -> tuple[str, ...]:
        return listed(self.plugins)

    @property
    def strict_math(self) -> bool:
        return self.math == choices.STRICT

    def report(self, line: str) -> None:
        """Tell the user that a step of the work begins."""
        if self.progress is not None:
            self.progress(line)

    @property
    def element_type(self) -> str:
        """Return the element type that f32 values are stored in."""
        return choices.HALVES.get(self.precision, choices.F32)

    @property
    def tuning_file(self) -> str:
        return self.tune or self.tuning

    @property
    def layer_error(self) -> float:
        """Return the largest relative error that Winograd's method may cause in a layer."""
        if self.winograd_error is None:
            return 0.0 if self.strict_math else choices.WINOGRAD_ERROR
        return self.winograd_error


DEFAULT = CompileOptions()
