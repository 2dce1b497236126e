"""Modules for tests of passes: built by a function, read from lit tests, filled with numbers."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from trivium.dialects import cpu as cpu  # lit tests have its ops, too
from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of, type_of
from trivium.dialects.core.interpret import Interpreter
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, functions, ops
from trivium.dialects.core.sizes.substitution import likely
from trivium.dialects.core.tensor import DTYPES, Array, Tensor, numpy_dtype
from trivium.passes.core import Pass

LIT = Path(__file__).resolve().parents[2] / "passes"


def module_of(build: Callable[..., ir.Value], *types: Tensor) -> Module:
    """Make a module whose function's body is what `build` builds from its arguments."""
    module = Module(ir.Module.create())
    mlir_types = [type_of(t) for t in types]
    with ir.InsertionPoint(module.ir.body):
        function = ir.Operation.create(
            "func.func", [], [], {"sym_name": ir.StringAttr.get("main")}, regions=1
        )
    places = [ir.Location.unknown()] * len(types)
    block = ir.Block.create_at_start(function.regions[0], mlir_types, places)
    with ir.InsertionPoint(block):
        result = build(*block.arguments)
        ir.Operation.create("func.return", [], [result])
    signature = ir.FunctionType.get(mlir_types, [result.type])
    function.attributes["function_type"] = ir.TypeAttr.get(signature)
    module.verify()
    return module


def names(module: Module) -> list[str]:
    """List the ops of a module by name, without constants, weights and the ends of groups."""
    inert = (tri.Constant, tri.Weight, tri.Yield)
    found = [op for op in ops(module.operation) if not isinstance(op, inert)]
    return [op.op_name.partition(".")[2] for op in found]


def lit_modules() -> dict[str, str]:
    """Return the functions of all lit tests of passes that are valid IR, one module for each."""
    texts: dict[str, str] = {}
    for path in sorted(LIT.rglob("*.mlir")):
        for part in re.split(r"^// -----", path.read_text(), flags=re.MULTILINE):
            functions = re.findall(r"^func\.func.*?^}", part, re.MULTILINE | re.DOTALL)
            for text in functions:
                name = re.search(r"@(\w+)", text)
                assert name
                texts[f"{path.stem}/{name[1]}"] = text
    return texts


def with_weights(module: Module) -> Module:
    """Give every weight of a module random numbers."""
    random = np.random.default_rng(0)
    for op in ops(module.operation):
        if isinstance(op, tri.Weight):
            module.weights[op.name] = numbers(op.type, random)
    return module


def numbers(tensor: Tensor, random: np.random.Generator) -> Array:
    dtype = DTYPES[tensor.dtype]
    if dtype.kind == "bool":
        return random.random(tensor.shape) < 0.7
    if dtype.kind == "float":
        return random.normal(size=tensor.shape).astype(numpy_dtype(tensor.dtype))
    return random.integers(0, 100, tensor.shape).astype(numpy_dtype(tensor.dtype))


def outputs(module: Module, seed: int = 0) -> Iterator[tuple[Array, ...]]:
    """Execute each function of a module on random inputs, of likely sizes."""
    for function in functions(module.operation):
        random = np.random.default_rng(seed)
        arguments = function.regions[0].blocks[0].arguments
        types = [tensor_of(argument.type) for argument in arguments]
        static = [Tensor(tuple(map(likely, each.shape)), each.dtype) for each in types]
        inputs = [numbers(each, random) for each in static]
        yield Interpreter(module.weights).run_function(function, inputs)


def run_all(module: Module, passes: Sequence[Pass]) -> Module:
    for step in passes:
        step.run(module)
    module.verify()
    return module
