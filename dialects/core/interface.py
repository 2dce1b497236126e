"""Read and change what goes in and out of a model: arguments, results and their names."""

from collections.abc import Mapping, Sequence

from .attributes import tensor_of, to_attribute
from .mlir import ir
from .module import Module, declared
from .tensor import Tensor


def input_names(module: Module) -> list[str]:
    """Return the names of a model's inputs, in order."""
    return declared(module.main, "inputs", len(module.main_block.arguments))


def input_types(module: Module) -> dict[str, Tensor]:
    """Return the types of a model's inputs by their names, in order."""
    types = [tensor_of(value.type) for value in module.main_block.arguments]
    return dict(zip(input_names(module), types, strict=True))


def output_types(module: Module) -> dict[str, Tensor]:
    """Return the types of what a model returns by their names, in order."""
    return {name: tensor_of(value.type) for name, value in named_outputs(module).items()}


def named_inputs(module: Module) -> dict[str, ir.Value]:
    """Return the arguments of a model by their names, in order."""
    return dict(zip(input_names(module), module.main_block.arguments, strict=True))


def named_outputs(module: Module) -> dict[str, ir.Value]:
    """Return what a model returns by its names, in order."""
    values = returned(module.main)
    return dict(zip(declared(module.main, "outputs", len(values)), values, strict=True))


def returned(function: ir.Operation) -> list[ir.Value]:
    """Return the values that a function returns."""
    return list(last_operation(function).operands)


def add_inputs(
    module: Module, types: Mapping[str, ir.Type], locations: Mapping[str, ir.Location] | None = None
) -> dict[str, ir.Value]:
    """Give a model more inputs of some types; return them by their names."""
    names, block = input_names(module), module.main_block
    located = locations or {}
    made = {
        name: block.add_argument(type_, located.get(name) or ir.Location.unknown())
        for name, type_ in types.items()
    }
    set_names(module.main, "inputs", [*names, *made])
    set_signature(module.main)
    return dict(made)


def keep_inputs(module: Module, names: Sequence[str]) -> None:
    """Erase the inputs of a model but some, in their order; nothing uses the others."""
    every = input_names(module)
    for number in reversed(range(len(every))):
        if every[number] not in names:
            module.main_block.erase_argument(number)
    set_names(module.main, "inputs", [name for name in every if name in names])
    set_signature(module.main)


def set_results(module: Module, results: Mapping[str, ir.Value]) -> None:
    """Let a model return values by these names, and nothing else."""
    last_operation(module.main).erase()
    with ir.InsertionPoint(module.main_block), ir.Location.unknown():
        ir.Operation.create("func.return", [], list(results.values()))
    set_names(module.main, "outputs", list(results))
    set_signature(module.main)


def set_names(function: ir.Operation, which: str, names: Sequence[str]) -> None:
    """Name the inputs or the outputs of a function."""
    function.attributes[f"trivium.{which}"] = to_attribute(tuple(names), tuple[str, ...])


def set_signature(function: ir.Operation) -> None:
    """Write the type of a function anew: its block has other arguments, or returns others."""
    values = function.regions[0].blocks[0].arguments, returned(function)
    types = [[value.type for value in each] for each in values]
    with function.context:
        signature = ir.FunctionType.get(*types)
        function.attributes["function_type"] = ir.TypeAttr.get(signature)


def last_operation(function: ir.Operation) -> ir.Operation:
    """Return the operation at the end of a function, which returns its values."""
    operations = function.regions[0].blocks[0].operations
    return operations[len(operations) - 1].operation
