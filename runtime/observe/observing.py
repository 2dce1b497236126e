"""What a session offers to look into its runs: profiles, values, and parts of a run."""

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike, NDArray

from ..errors import RunError

if TYPE_CHECKING:
    from ..gpu.exchange import DeviceArrayLike
    from ..program import Program
    from .observer import Observation
    from .peaks import Peaks
    from .profile import Profile
    from .statistics import RunStatistics


class Observing:
    """Let the runs of a session be observed, by twins of it: it is as fast as before."""

    _program: "Program"

    @property
    def threads(self) -> int:
        """Return on how many threads the session runs at most."""
        raise NotImplementedError

    def profile(
        self,
        feeds: "Mapping[str, ArrayLike | DeviceArrayLike]",
        runs: int = 1,
        warm_up: int = 1,
        peaks: "Peaks | None" = None,
    ) -> "Profile":
        """Run `feeds` some times, and return how long each call of a kernel took.

        Native code reads the clock after each call, in these runs alone; what a GPU does is waited
        for, step by step. State begins as `reset_state` has it, and that of this session stays.
        Before, there are `warm_up` runs that do not count. With `peaks` of a core, the profile
        says what share of them kernels reach.
        """
        from .calls import CallTable
        from .profile import Profile, RunProfile, events_of

        self._check_static("profile")
        if runs < 1 or warm_up < 0:
            raise RunError(f"runs is {runs} and warm_up {warm_up}, must be at least 1 and 0")
        seen: list[Observation] = []
        package = self._program.package
        CallTable(package).check()
        made: list[RunProfile] = []
        with self._twin(_observed(self._program, seen)) as twin:
            for number in range(warm_up + runs):
                seen.clear()
                begin = perf_counter_ns()
                twin.run(feeds)
                end = perf_counter_ns()
                if number >= warm_up:
                    events = events_of(seen, package.manifest)
                    made.append(RunProfile(begin, end, events))
        return Profile(tuple(made), self.threads, peaks)

    def values(
        self, feeds: "Mapping[str, ArrayLike | DeviceArrayLike]", runs: int = 1
    ) -> "Iterator[dict[str, NDArray[Any]]]":
        """Run `feeds` some times; yield what each run has computed for kept values and outputs.

        State begins as `reset_state` has it, and that of this session stays.
        """
        if runs < 1:
            raise RunError(f"runs is {runs}, must be at least 1")
        program = self._program
        kept = program.package.manifest.kept if program.selection is None else ()
        with self._twin(self._program) as twin:
            for _ in range(runs):
                results = twin.run(feeds)
                yield {name: twin.value(name) for name in kept} | results

    def statistics(
        self, feeds: "Mapping[str, ArrayLike | DeviceArrayLike]", runs: int = 1
    ) -> "tuple[RunStatistics, ...]":
        """Run `feeds` some times, and describe the numbers of kept values and outputs in each run.

        `compile(keep="*")` keeps all values. State is that of `values`.
        """
        from .statistics import ValueStatistics

        return tuple(
            tuple(ValueStatistics.of(name, array) for name, array in run.items())
            for run in self.values(feeds, runs)
        )

    def part(self, inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> Self:
        """Return a session of a part of the run: what computes `outputs` from `inputs`.

        Both are names of inputs, outputs and kept values. No other call is made. Package, weights
        and the plan of the memory are shared, the memory is not. State is fed and returned like
        any other value. Raises RunError for other names, for inputs that are needed too, or do not
        give all free sizes, and for packages that update state in place or find sizes in a run.
        """
        from .calls import CallTable
        from .observer import Observer
        from .selection import select

        self._check_static("part")
        package = self._program.package
        if self._program.selection is not None:
            raise RunError("the session is that of a part: take another part of the whole one")
        calls = CallTable(package)
        names = [(each,) if isinstance(each, str) else tuple(each) for each in (inputs, outputs)]
        selection = select(package.manifest, calls, *names)
        observer = Observer(calls, selection.skipped)
        return self._twin(self._program.changed(selection=selection, observer=observer, exact=()))

    def _check_static(self, what: str) -> None:
        if self._program.choice is not None:
            raise RunError(
                f"{what} needs the static plan of memory, the session has "
                f"'{self._program.choice.strategy}': use a session with memory='static'"
            )

    def _twin(self, program: "Program") -> Self:
        raise NotImplementedError

    def value(self, name: str) -> Any:
        """Return what the last run computed for a value that is kept."""
        raise NotImplementedError

    def run(self, feeds: Any, outputs: Any = None) -> dict[str, Any]:
        """Compute all outputs from all inputs."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        raise NotImplementedError

    def __exit__(self, *_: object) -> None:
        raise NotImplementedError


def _observed(program: "Program", seen: "list[Observation]") -> "Program":
    """Return the same program, and those for exact sizes, under observation."""
    from .calls import CallTable
    from .observer import Observer

    watching = program.observer or Observer(CallTable(program.package))
    exact = tuple(_observed(each, seen) for each in program.exact)
    return program.changed(observer=watching.timed(seen), exact=exact)
