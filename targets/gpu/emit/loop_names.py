"""Names of loop-carried variables: one name for the initial, the carried and the final value."""

from ....dialects import tile
from ....dialects.core.mlir import ir


class LoopNames:
    """Find the values that may overwrite the carried variable that they become.

    acc = tl.full((BM, BN), 0.0, tl.float32)
    for k in range(0, 512, BK):
        acc = tl.dot(a, b, acc)
    """

    def __init__(self) -> None:
        self._next: dict[ir.Value, str] = {}

    def enter(self, loop: tile.For, names: list[str]) -> None:
        """Register the names of a loop's carried variables before its body is printed."""
        body = [operation.operation for operation in loop.block.operations]
        arguments = list(loop.block.arguments)[1:]
        for argument, value, name in zip(arguments, body[-1].operands, names, strict=True):
            if _may_overwrite(argument, value, body):
                self._next[value] = name

    def name_of_next(self, value: ir.Value) -> str | None:
        """Return the carried variable that a value becomes in the next iteration, or None."""
        return self._next.get(value)

    def wish(self, value: ir.Value) -> str | None:
        """Return the name of a value in the loop that carries it, or None."""
        user = _only_user(value)
        if user is None or user.name != tile.For.op_name:
            return None
        place = list(user.operands).index(value) - 3
        if place < 0:
            return None
        location = list(tile.For(user).block.arguments)[place + 1].location
        return location.name_str if isinstance(location, ir.NameLoc) else None


def starts_variable(value: ir.Value, loop: tile.For) -> bool:
    """Return whether a loop may reuse the variable of a value: the value has no other use."""
    user = _only_user(value)
    return user is not None and user == loop.operation and _block_of(value) == _outside(loop)


def _may_overwrite(argument: ir.Value, value: ir.Value, body: list[ir.Operation]) -> bool:
    """Return whether nothing reads the variable after `value` is computed."""
    user = _only_user(value)
    if not isinstance(value, ir.OpResult) or user is None or user != body[-1]:
        return False
    maker = value.owner.operation
    if maker not in body or maker.name == tile.For.op_name:  # a loop has a variable of its own
        return False
    made = body.index(maker)
    return all(_last_use(use.owner.operation, body) <= made for use in argument.uses)


def _last_use(user: ir.Operation, body: list[ir.Operation]) -> int:
    """Return the index of the line that prints an operation's uses; `expand` prints none itself."""
    if user.name == tile.Expand.op_name:
        return len(body)
    while user not in body:
        assert user.parent is not None, "values are used in the body that they belong to"
        user = user.parent.operation
    return body.index(user)


def _only_user(value: ir.Value) -> ir.Operation | None:
    users = [use.owner.operation for use in value.uses]
    return users[0] if len(users) == 1 else None


def _block_of(value: ir.Value) -> ir.Block:
    return value.owner.operation.block if isinstance(value, ir.OpResult) else value.owner


def _outside(loop: tile.For) -> ir.Block:
    return loop.operation.block
