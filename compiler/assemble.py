"""Put a package together: the program as a manifest, weights, code, and the IR."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import groupby
from typing import Any

import numpy as np

from .. import __version__
from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, declared, ops
from ..dialects.core.op import Op
from ..dialects.core.tensor import DTYPES
from ..runtime import manifest as m
from ..runtime.checks import DEVICE_WEIGHTS_ENTRY, WEIGHTS_ENTRY
from ..runtime.memory import allocate
from ..runtime.package import Package
from ..targets.code import Code, NumberedCall
from ..targets.core import DEVICE_MEMORY, HOST_MEMORY, Target
from ..targets.options import Options
from ..targets.program import Program, Storage

BYTECODE = "module.mlirbc"
"""The entry of a package that holds its placed IR."""

OFFSETS = {HOST_MEMORY: "trivium.offset", DEVICE_MEMORY: "trivium.device_offset"}
"""The attributes of a weight in the packaged IR: where its bytes are among those of a memory."""

WEIGHTS = {HOST_MEMORY: WEIGHTS_ENTRY, DEVICE_MEMORY: DEVICE_WEIGHTS_ENTRY}


def assemble(
    module: Module,
    program: Program,
    owners: Mapping[Op, Code],
    codes: Sequence[Code],
    *,
    placed: ir.Operation,
    target: Target,
    source: str,
    options: Options,
    entries: Mapping[str, bytes],
) -> Package:
    """Make the package of a laid-out program.

    `owners` are the codes that make its calls, by their ops; `codes` those of all targets. `placed`
    is the IR that the code was made of, `entries` is what else is in the package. The weights of
    the module and of the program are used up: there is no room for two copies of large ones.
    """
    assembly = _Assembly(module, program, target, codes)
    return assembly.package(owners, placed, source, options, entries)


class _Assembly:
    def __init__(
        self, module: Module, program: Program, target: Target, codes: Sequence[Code]
    ) -> None:
        self.module = module
        self.program = program
        self.target = target
        self.codes = codes
        self.described = {v: text for code in codes for v, text in code.layouts().items()}
        self.buffers: list[m.Buffer] = []
        self.index: dict[tuple[ir.Value, int], int] = {}

    def package(
        self,
        owners: Mapping[Op, Code],
        placed: ir.Operation,
        source: str,
        options: Options,
        others: Mapping[str, bytes],
    ) -> Package:
        inputs = self._ports("inputs", self.program.inputs)
        outputs = self._ports("outputs", self.program.outputs)
        numbered = list(enumerate(self.program.calls))
        load_steps = self._steps(owners, numbered[: self.program.load_count])
        steps = self._steps(owners, numbered[self.program.load_count :])
        parts: dict[str, Any] = {"machines": ()}  # unless there is native code
        for code in self.codes:
            parts |= code.parts(self.program)
        manifest = m.Manifest(
            producer=f"trivium {__version__}",
            source=source,
            target=self.target.name,
            math=m.Math(options.math, options.layer_error, options.precision),
            inputs=inputs,
            outputs=outputs,
            buffers=tuple(self.buffers),
            steps=steps,
            load_steps=load_steps,
            memory=self._memory(),
            **parts,
        )
        entries: dict[str, bytes | bytearray | memoryview] = {BYTECODE: self._bytecode(placed)}
        entries |= others
        for code in self.codes:
            entries |= code.entries()
        self.module.weights.clear()
        for memory, name in WEIGHTS.items():
            if (storage := self.program.storage[memory]).weight_bytes:
                entries[name] = _weights(storage)
        return Package.create(manifest, entries)

    # -- values -------------------------------------------------------------------------------

    def _ports(self, which: str, values: Sequence[ir.Value]) -> tuple[m.Port, ...]:
        names = declared(self.module.main, which, len(values))
        complex_ports = declared(self.module.main, "complex", 0)
        ports: list[m.Port] = []
        for name, value in zip(names, values, strict=True):
            self.program.names.setdefault(value, name)
            number = self.number(value)
            shape, dtype = self.buffers[number].shape, self.buffers[number].dtype
            if name in complex_ports and dtype in m.COMPLEX:
                shape, dtype = shape[:-1], m.COMPLEX[dtype]
            ports.append(m.Port(name, shape, dtype, number))
        return tuple(ports)

    def number(self, value: ir.Value, memory: str = HOST_MEMORY) -> int:
        """Return the number of a value's buffer; describes it when it is new."""
        place = self.program.place(value, memory)
        if (value, place.base) not in self.index:
            tensor = tensor_of(value.type)
            name = self.program.names.get(value, "")
            dtype = DTYPES[tensor.dtype].numpy
            self.index[value, place.base] = len(self.buffers)
            layout = self.described.get(value, "")
            self.buffers.append(
                m.Buffer(name, place.base, place.offset, tensor.shape, dtype, layout=layout)
            )
        return self.index[value, place.base]

    def _memory(self) -> m.Memory:
        host = self.program.storage[HOST_MEMORY]
        device = self.program.storage[DEVICE_MEMORY]
        return m.Memory(
            arena_bytes=host.plan.size_bytes,
            arena_lower_bound=host.plan.lower_bound,
            weight_bytes=host.weight_bytes,
            thread_bytes=self.program.thread_bytes,
            device_arena_bytes=device.plan.size_bytes,
            device_arena_lower_bound=device.plan.lower_bound,
            device_weight_bytes=device.weight_bytes,
            prepared_bytes=self.program.prepared_bytes,
        )

    # -- steps --------------------------------------------------------------------------------

    def _steps(
        self, owners: Mapping[Op, Code], numbered: Sequence[NumberedCall]
    ) -> tuple[m.Step, ...]:
        """Let each code make its calls, as many at once as follow one another."""
        steps: list[m.Step] = []
        for _, run in groupby(numbered, lambda call: id(owners[call[1].op])):
            calls = list(run)
            steps += owners[calls[0][1].op].steps(calls, self)
        return tuple(steps)

    # -- IR -----------------------------------------------------------------------------------

    def _bytecode(self, placed: ir.Operation) -> bytes:
        """Return the placed IR, with each weight's offsets, from which code can be made again."""
        i64 = ir.IntegerType.get_signless(64, self.module.ir.context)
        offsets = {memory: self._offsets(memory) for memory in OFFSETS}
        for op in ops(placed):
            for memory, attribute in OFFSETS.items():
                if isinstance(op, tri.Weight) and op.name in offsets[memory]:
                    number = ir.IntegerAttr.get(i64, offsets[memory][op.name])
                    op.operation.attributes[attribute] = number
        file = BytesIO()
        placed.write_bytecode(file)
        return file.getvalue()

    def _offsets(self, memory: str) -> dict[str, int]:
        """Return where the weights that a memory holds are among its bytes."""
        constants = self.program.constants
        weights = [op for op in ops(self.module.main) if isinstance(op, tri.Weight)]
        return {
            op.name: constants[op.y, memory].offset for op in weights if (op.y, memory) in constants
        }


def _weights(storage: Storage) -> memoryview:
    """Copy weights to where a session reads them; each is freed as soon as it is copied."""
    blob = allocate(storage.weight_bytes)
    while storage.weights:
        offset, array = storage.weights.pop()
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        blob[offset : offset + flat.size] = flat
    return blob.data
