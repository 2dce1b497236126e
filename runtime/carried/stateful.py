"""What a session offers for models with state."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, cast

from numpy.typing import ArrayLike, NDArray

from ..errors import RunError
from ..plans.ports import Ports
from ..slots import Slot, wrong_names
from .state import CarriedState, StatePair, Value, zeros_of

if TYPE_CHECKING:
    from ..file.state_file import StateFile
    from ..manifest import Manifest
    from ..package import Package

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_NONE: Mapping[str, Any] = MappingProxyType({})


class StateValues(Mapping[str, NDArray[Any]]):
    """Show the state of a session by input: each look-up returns a copy of the value then."""

    def __init__(self, names: Sequence[str], copy: Callable[[str], NDArray[Any]]) -> None:
        self._names = dict.fromkeys(names)
        self._copy = copy

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise KeyError(name)
        return self._copy(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<state of {', '.join(map(repr, self._names)) or 'nothing'}>"


class Stateful:
    """Keep outputs of a session, as inputs of its next run."""

    _ports: Ports

    @property
    def manifest(self) -> "Manifest":
        """Return the description of the package."""
        raise NotImplementedError

    def bind_state(
        self,
        pairs: Mapping[str, str | Sequence[str]] | None = None,
        initial: Mapping[str, ArrayLike] = _NONE,
    ) -> None:
        """Make each output the value of an input, or of several, in the next run.

        `pairs` are names of inputs by names of outputs; without them, they are the inputs that the
        model changes. The inputs begin as `initial` has them, which are copied, or as zeros. From
        now on a run needs no feeds for them: one that is given is used instead in this run. The
        outputs are no results of a run: an array that is given for one gets a copy. A run that
        fails leaves the state as it was, but for what the package updates in place.
        """
        self._alone(self._bind_pairs, pairs, _copied(initial))

    def _bind_carried(self, package: "Package") -> None:
        """Bind what a session of a package carries on from its beginning."""
        bound = {pair.output: pair.input for pair in package.manifest.carried if pair.is_bound}
        if bound:
            from ..file.initial_state import initial_state

            self.bind_state(bound, initial_state(package.manifest, package.entries))

    def unbind_state(self) -> None:
        """Forget all state: its inputs and outputs are as others again."""
        self._alone(self._carry, CarriedState())

    @property
    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return what the next run takes for each input that is bound; each look-up is a copy."""
        return StateValues(
            [slot.name for slot in self._ports.carried.slots],
            lambda name: self._alone(lambda: self._ports.carried.value(name)),
        )

    def reset_state(self) -> None:
        """Return to the values that the state began with."""
        self._alone(lambda: self._ports.carried.reset())

    def save_state(self, file: "StateFile") -> None:
        """Write the state to a path, or to a file that is open: numpy's `.npz`, without pickle."""
        self._alone(self._save_state, file)

    def restore_state(self, source: "StateFile | Mapping[str, ArrayLike]") -> None:
        """Go on from a state that was saved, or from arrays by input, as `state` has them.

        Raise RunError where names, shapes or types differ; the state is then as it was.
        """
        if isinstance(source, Mapping):
            self._alone(self._load_state, _copied(source))
        else:
            self._alone(self._read_state, source)

    def _alone(self, work: Callable[[*Ts], T], *arguments: *Ts) -> T:
        raise NotImplementedError

    def _carry(self, state: CarriedState) -> None:
        """Replace the state."""
        raise NotImplementedError

    def _updates(self) -> Mapping[str, str]:
        """Return the inputs that the model changes, by the outputs that are their new values."""
        found = {p.output: p.input for p in self.manifest.carried if not p.is_bound}
        if not found:
            raise RunError("the model changes no inputs: name the outputs that become inputs")
        return found

    def _create_buffer(self, pair: StatePair) -> Value:
        """Return memory that a run writes an output to, and the next one reads as the inputs."""
        return zeros_of(pair)

    def _check_stateless(self) -> None:
        if self._ports.carried.pairs:
            raise RunError(
                "the session has state, which is in two buffers in turns, and a replay is bound to "
                "one: unbind_state(), and make a replay for each of two arrays"
            )

    def _bind_pairs(self, pairs: object, initial: object) -> None:
        from .pairs import add_pairs

        pairs = self._updates() if pairs is None else pairs
        ports = (self._ports.inputs, self._ports.outputs)
        create, updated = self._create_buffer, self._ports.updated
        self._carry(add_pairs(self._ports.carried, pairs, initial, ports, create, updated))

    def _save_state(self, file: "StateFile") -> None:
        from ..file.state_file import write_state

        slots = self._bound_slots()
        write_state(file, slots, {s.name: self._ports.carried.value(s.name) for s in slots})

    def _read_state(self, file: "StateFile") -> None:
        from ..file.state_file import read_state

        self._ports.carried.load(read_state(file, self._bound_slots()))

    def _load_state(self, given: Mapping[str, object]) -> None:
        from .pairs import owned

        slots = self._bound_slots()
        if len(given) != len(slots) or any(slot.name not in given for slot in slots):
            raise wrong_names(given, slots)
        self._ports.carried.load({slot.name: owned(slot, given[slot.name]) for slot in slots})

    def _bound_slots(self) -> list[Slot]:
        if not self._ports.carried.slots:
            raise RunError("the session has no state: bind_state() first")
        return self._ports.carried.slots


def _copied(values: object) -> Any:
    """Return a dictionary of what `state` shows, which cannot be read while the session is busy."""
    if isinstance(values, Mapping):
        return dict(cast("Mapping[str, object]", values))
    return values
