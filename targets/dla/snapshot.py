"""Snapshots of a module, to undo a failed scheduling attempt."""

from ...dialects.core.mlir import ir
from ...dialects.core.module import Module


class Snapshot:
    """A copy of a module's IR and of its weights by name; it can be restored many times.

    The module object remains the same; its operations are replaced, so that references to them
    dangle.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._operation = module.operation.clone().operation
        self._weights = dict(module.weights)

    def restore(self) -> None:
        """Reset the module to its state at the time of the snapshot."""
        body = self._module.operation.regions[0].blocks[0]
        for operation in reversed(list(body.operations)):
            operation.operation.erase()
        end = ir.InsertionPoint(body)
        for operation in self._operation.regions[0].blocks[0].operations:
            operation.operation.clone(ip=end)
        _copy_attributes(self._operation, self._module.operation)
        self._module.weights.clear()
        self._module.weights.update(self._weights)


def _copy_attributes(source: ir.Operation, destination: ir.Operation) -> None:
    for name in list(destination.attributes):
        del destination.attributes[name]
    for name in source.attributes:
        destination.attributes[name] = source.attributes[name]
