"""Select the calls of a run that compute some of its values from others."""

from collections.abc import Collection, Mapping, Sequence

from ..contents import ABSENT, ARENA, FIRST_PORT, PREPARED, WEIGHTS, Port
from ..errors import PackageError, RunError
from ..frozen import Frozen
from ..manifest import Manifest
from ..sizes.size_expressions import Size
from ..slots import quote
from ..step import Step
from .calls import CallTable

Place = tuple[int, Size]
"""A base, and an offset from it."""


class Selection(Frozen):
    """Name what goes in and out of a part of a run, and what of the run is done.

    `steps` are the numbers of steps, `skipped` the numbers of calls that are not made, by the `id`
    of their step.
    `entered` are ports of inputs whose array is copied to the place of their value first, and
    `between` outputs that are made and used, but neither go in nor out.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    steps: tuple[int, ...]
    skipped: Mapping[int, Collection[int]]
    entered: tuple[str, ...] = ()
    between: tuple[str, ...] = ()


def select(
    manifest: Manifest, calls: CallTable, inputs: Sequence[str], outputs: Sequence[str]
) -> Selection:
    """Return what computes outputs from inputs; both are inputs, outputs and kept values.

    Raises RunError for names that are neither, and for what is needed beside the inputs.
    """
    _check_simple(manifest)
    calls.check()
    ports = {port.name: port for port in (*manifest.outputs, *manifest.inputs)}
    _check_names(manifest, inputs, outputs, ports)
    _check_sizes(manifest, [ports[name] for name in inputs])
    places, values = _places(manifest), {n: _value_of(manifest, p) for n, p in ports.items()}
    dependence = _Dependence(manifest, calls, {values[name] for name in inputs})
    dependence.trace({values[name] for name in outputs})
    lacking = [p.name for p in manifest.inputs if places[p.name] in dependence.needed]
    if lacking:
        raise RunError(
            f"inputs lack {quote(lacking)}, which the outputs are computed from; values that their "
            "readers take in another form, such as halves, cannot stand for it"
        )
    entered = [name for name in inputs if values[name] != places[name]]
    for name in entered:
        _check_entered(name, values[name], places)
    listed = {*inputs, *outputs}
    between = [p.name for p in manifest.outputs if places[p.name] in dependence.made]
    return Selection(
        tuple(inputs),
        tuple(outputs),
        tuple(dependence.steps),
        dependence.skipped,
        tuple(entered),
        tuple(name for name in between if name not in listed),
    )


class _Dependence:
    """Find what must be done for some values, from the end of a run to its begin.

    `needed` are the places of values that are not made yet, `made` those of values that are. Places
    are used again in a run, so that what makes a value is the last call before that writes there.
    """

    def __init__(self, manifest: Manifest, calls: CallTable, given: set[Place]) -> None:
        self._manifest = manifest
        self._calls = calls
        self._given = given
        self.needed: set[Place] = set()
        self.made: set[Place] = set()
        self.steps: list[int] = []
        self.skipped: dict[int, list[int]] = {}

    def trace(self, values: set[Place]) -> None:
        """Find the steps and calls that make values."""
        self.needed = values - self._given
        for number, step in reversed(list(enumerate(self._manifest.steps))):
            left_out = self._left_out(step)
            if left_out is not None:
                self.steps.insert(0, number)
                self.skipped[id(step)] = left_out

    def _left_out(self, step: Step) -> list[int] | None:
        """Return the calls of a step that are not needed, or None if nothing of it is."""
        listed = self._calls.of(step)
        if not listed:
            return [] if self._take(step.operands, step.results) else None
        left_out = [
            number
            for number, call in reversed(list(enumerate(listed)))
            if not self._take(call.reads, call.writes)
        ]
        return None if len(left_out) == len(listed) else left_out

    def _take(self, reads: Sequence[int], writes: Sequence[int]) -> bool:
        """Return whether a call makes what is needed; what it reads then is, instead."""
        results = self._places(writes)
        if results.isdisjoint(self.needed):
            return False
        self.made |= results
        self.needed = (self.needed - results) | (self._places(reads) - self._given)
        return True

    def _places(self, indices: Sequence[int]) -> set[Place]:
        return {_place(self._manifest, index) for index in indices if index != ABSENT}


def _place(manifest: Manifest, index: int) -> Place:
    buffer = manifest.buffers[index]
    return buffer.base, buffer.offset


def _value_of(manifest: Manifest, port: Port) -> Place:
    """Return where the steps have the value of a port, which may be elsewhere than its array."""
    return _place(manifest, port.buffer)


def _places(manifest: Manifest) -> dict[str, Place]:
    """Return where the arrays of ports are; an input is meant where an output has its name."""
    found: dict[str, Place] = {}
    for base, port in enumerate((*manifest.inputs, *manifest.outputs), FIRST_PORT):
        found.setdefault(port.name, (base, 0))
    return found


def _check_simple(manifest: Manifest) -> None:
    if found := [symbol.name for symbol in manifest.symbols if symbol.stage]:
        raise RunError(
            f"sizes {quote(found)} are found when the package runs, a part of a run has numbers "
            "for them: cut the model by inputs and outputs"
        )
    if manifest.only_exact:
        raise RunError(
            "the package has programs for exact sizes alone, which have no parts: compile the "
            "model again with shapes"
        )
    if manifest.updated:
        names = quote(manifest.updated.values())
        raise RunError(
            f"inputs {names} are updated in place, a part of a run would leave them half changed: "
            "cut the model by inputs and outputs"
        )


def _check_sizes(manifest: Manifest, inputs: Sequence[Port]) -> None:
    """Raise RunError for a symbol that the inputs of a part do not give."""
    from ..sizes.symbols import Symbols

    try:
        Symbols(manifest, inputs)
    except PackageError as error:
        names = quote(port.name for port in inputs)
        raise RunError(
            f"{error} of the part, which are {names}: add an input that has it"
        ) from None


def _check_names(
    manifest: Manifest,
    inputs: Sequence[str],
    outputs: Sequence[str],
    ports: Mapping[str, Port],
) -> None:
    for name in (*inputs, *outputs):
        if name not in ports:
            raise RunError(
                f"'{name}' is no input, no output and not kept, so that its memory is used again "
                f"in a run; there are {quote(ports)}: compile the model again with keep=['{name}']"
            )
    taken = {port.name for port in manifest.inputs}
    for name in outputs:
        if name in taken:
            raise RunError(f"outputs has '{name}', which is an input of the package")
    if not outputs:
        raise RunError("outputs are none, must name what a part of a run computes")


def _check_entered(name: str, value: Place, places: Mapping[str, Place]) -> None:
    """Raise RunError where an input cannot be written to the place of its value."""
    base, _ = value
    if base == ARENA:
        return
    owner = next((each for each, place in places.items() if place == value), "")
    what = "a constant" if base in (WEIGHTS, PREPARED) else f"in the memory of '{owner}'"
    raise RunError(f"inputs has '{name}', which is {what}, must be a value of its own")
