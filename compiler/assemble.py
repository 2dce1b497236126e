"""Put a package together: the program as a manifest, weights, code, and the IR."""

from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from itertools import groupby
from typing import cast

import numpy as np

from .. import __version__
from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.location import node_names
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, declared, ops
from ..dialects.core.tensor import DTYPES
from ..runtime import manifest as m
from ..runtime.memory import allocate
from ..runtime.package import Package
from ..runtime.team import CODE as THREADS
from ..targets.core import Target
from ..targets.cpu.compile import CpuCode, compile_segment, compile_threads, object_entries
from ..targets.cpu.layouts import describe_layouts
from ..targets.cpu.segment import KernelCall
from ..targets.cpu.variants import merge_scratch, own_pieces
from ..targets.options import Options
from ..targets.program import Call, Program
from ..targets.registry import find_target
from ..targets.tuning_file import PACKAGED

BYTECODE = "module.mlirbc"
"""The entry of a package that holds its placed IR."""

OFFSET = "trivium.offset"
"""The attribute of a weight in the packaged IR: where its bytes are in `weights.bin`."""


def assemble(
    module: Module,
    program: Program,
    codes: Sequence[CpuCode],
    *,
    target: str,
    source: str,
    options: Options,
    tuning: str,
) -> Package:
    """Make the package of a laid-out program; its codes are for one machine each, best first."""
    return _Assembly(module, program, codes, find_target(target)).package(source, options, tuning)


def _requirements(code: CpuCode) -> m.CpuRequirements:
    machine = code.machine
    return m.CpuRequirements(machine.architecture, machine.features, machine.name)


class _Assembly:
    def __init__(
        self, module: Module, program: Program, codes: Sequence[CpuCode], target: Target
    ) -> None:
        self.module = module
        self.program = program
        self.codes = codes
        self.target = target
        self.layouts = describe_layouts(module)
        self.buffers: list[m.Buffer] = []
        self.index: dict[ir.Value, int] = {}

    def package(self, source: str, options: Options, tuning: str) -> Package:
        inputs = self._ports("inputs", self.program.inputs)
        outputs = self._ports("outputs", self.program.outputs)
        steps = self._steps()
        manifest = m.Manifest(
            producer=f"trivium {__version__}",
            source=source,
            target=self.target.name,
            math=m.Math(options.math, options.layer_error),
            inputs=inputs,
            outputs=outputs,
            buffers=tuple(self.buffers),
            steps=steps,
            memory=self._memory(),
            kernels=self._kernels(),
            machines=tuple(map(_requirements, self.codes)),
        )
        entries: dict[str, bytes | bytearray | memoryview] = {
            BYTECODE: self._bytecode(),
        }
        if tuning:
            entries[PACKAGED] = tuning.encode()
        for code in self.codes:
            entries |= object_entries(code.objects, _requirements(code).folder)
        if self.codes[0].objects:
            entries[THREADS] = compile_threads()
        if self.program.weight_bytes:
            entries["weights.bin"] = self._weights()
        return Package.create(manifest, entries)

    # -- values -------------------------------------------------------------------------------

    def _ports(self, which: str, values: Sequence[ir.Value]) -> tuple[m.Port, ...]:
        names = declared(self.module.main, which, len(values))
        complex_ports = declared(self.module.main, "complex", 0)
        ports: list[m.Port] = []
        for name, value in zip(names, values, strict=True):
            self.program.names.setdefault(value, name)
            buffer = self.buffers[self._buffer(value)]
            shape, dtype = buffer.shape, buffer.dtype
            if name in complex_ports and dtype in m.COMPLEX:
                shape, dtype = shape[:-1], m.COMPLEX[dtype]
            ports.append(m.Port(name, shape, dtype, self.index[value]))
        return tuple(ports)

    def _buffer(self, value: ir.Value) -> int:
        """Return the number of a value's buffer; describes it when it is new."""
        if value not in self.index:
            tensor = tensor_of(value.type)
            place = self.program.places[value]
            name = self.program.names.get(value, "")
            dtype = DTYPES[tensor.dtype].numpy
            self.index[value] = len(self.buffers)
            layout = self.layouts.get(value, "")
            self.buffers.append(
                m.Buffer(name, place.base, place.offset, tensor.shape, dtype, layout=layout)
            )
        return self.index[value]

    def _memory(self) -> m.Memory:
        plan = self.program.memory
        return m.Memory(
            plan.size_bytes,
            plan.lower_bound,
            self.program.weight_bytes,
            self.program.thread_bytes,
        )

    def _weights(self) -> memoryview:
        blob = allocate(self.program.weight_bytes)
        for offset, array in self.program.weights:
            flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            blob[offset : offset + flat.size] = flat
        return blob.data

    # -- steps --------------------------------------------------------------------------------

    def _steps(self) -> tuple[m.Step, ...]:
        steps: list[m.Step] = []
        numbered = enumerate(self.program.calls)
        for native, run in groupby(numbered, lambda c: c[1].group in self.codes[0].kernels):
            calls = list(run)
            if native:
                steps.append(self._segment(calls))
            else:
                steps += [self._host_step(call) for _, call in calls]
        return tuple(steps)

    def _segment(self, calls: Sequence[tuple[int, Call]]) -> m.Step:
        for _, call in calls:
            for value in (*call.operands, *call.results):
                self._buffer(value)
        nodes = [n for _, call in calls for n in node_names(call.group.location)]
        symbol, phases = None, 0
        for code in self.codes:
            made = compile_segment(code, [self._call(code, *call) for call in calls], symbol)
            symbol, phases = made.symbol, max(phases, made.phases)
        return m.Step("cpu", symbol or "", nodes=tuple(dict.fromkeys(nodes)), phases=phases)

    def _call(self, code: CpuCode, number: int, call: Call) -> KernelCall:
        """Call the kernel that a machine has for a call, in the memory that all of them share."""
        kernel = code.kernels[call.group]
        merged = merge_scratch([other.kernels[call.group].scratch for other in self.codes])
        scratch = dict(zip(merged, self.program.scratch[number], strict=True))
        values = (*call.operands, *call.results)
        places = [*(self.program.places[v] for v in values), *own_pieces(kernel.scratch, scratch)]
        return KernelCall(kernel.symbol, tuple(places), kernel.phases)

    def _host_step(self, call: Call) -> m.Step:
        op = next(o for o in ops(call.group.block) if not isinstance(o, tri.Constant))
        outer: dict[ir.Value, ir.Value] = dict(
            zip(call.group.block.arguments, call.operands, strict=True)
        )
        operands: list[int] = []
        groups: list[int] = []
        for group in op.operand_groups():
            many = isinstance(group, list)
            values = cast("list[ir.Value]", group) if many else [group]
            groups.append(len(values) if many else m.ALONE)
            operands += [m.ABSENT if v is None else self._buffer(outer[v]) for v in values]
        return m.Step(
            "host",
            op=op.op_name,
            attributes=op.attributes,
            operands=tuple(operands),
            groups=tuple(groups),
            results=tuple(self._buffer(v) for v in call.results),
            nodes=node_names(op.location),
            reason=self.target.refusal(op) or "",
        )

    def _kernels(self) -> tuple[m.Kernel, ...]:
        code = self.codes[0]
        calls = Counter(kernel.symbol for kernel in code.kernels.values())
        described: dict[str, m.Kernel] = {}
        for group, kernel in code.kernels.items():
            members = [o.op_name for o in ops(group.block) if not o.terminator]
            described.setdefault(
                kernel.symbol,
                m.Kernel(
                    kernel.symbol,
                    f"{_requirements(code).folder}{kernel.symbol}.o",
                    node_names(group.location),
                    tuple(name for name in members if name != tri.Constant.op_name),
                    calls[kernel.symbol],
                ),
            )
        return tuple(described.values())

    # -- IR -----------------------------------------------------------------------------------

    def _bytecode(self) -> bytes:
        """Return the placed IR, with each weight's offset, from which code can be made again."""
        i64 = ir.IntegerType.get_signless(64, self.module.ir.context)
        for op in ops(self.module.operation):
            if isinstance(op, tri.Weight) and (place := self.program.places.get(op.y)):
                op.operation.attributes[OFFSET] = ir.IntegerAttr.get(i64, place.offset)
        file = BytesIO()
        self.module.operation.write_bytecode(file)
        return file.getvalue()
