"""`Step`: one thing that a run does. Each kind is a class, of the target that makes such steps."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, NamedTuple, TypeAlias

from .contents import ABSENT, PROCESS, Contents
from .errors import PackageError
from .frozen import Frozen
from .kinds import LEFT_OUT, Kind
from .loader import Loader
from .state import SessionState

Run: TypeAlias = Callable[[], None]
"""Do a step once."""

Bind: TypeAlias = Callable[[SessionState], Run]
"""Prepare a step for a session."""

Store: TypeAlias = Callable[[SessionState], None]
"""Write results of a step that found their sizes, in memory that was made for them."""

Find: TypeAlias = Callable[[], tuple[dict[str, int], Store]]
"""Do a step that finds sizes; return these, by the names of symbols, and what stores results."""


SHAPE, ELEMENTS = "shape", "elements"


class FoundSize(Frozen):
    """Record where a step finds the size of a symbol: in the shape of a result, or in its elements.

    `index` is the number of an axis, or that of an element in row-major order.
    """

    symbol: str
    result: int
    index: int
    of: str = SHAPE


class SizedRun:
    """Base of runs that other sizes of the same memory need not bind anew."""

    def __call__(self) -> None:
        """Do the step once."""
        raise NotImplementedError

    def resize(self, state: SessionState) -> None:
        """Use the sizes of another state of the same session from the next call on."""
        raise NotImplementedError


class CallRuns:
    """Hold what makes each call of a step, in place of what does the step at once."""

    def __init__(self, calls: Sequence[Run]) -> None:
        self.calls = calls

    def __call__(self) -> None:
        """Make all calls."""
        do(self.calls)


Locate: TypeAlias = Callable[[int, int], tuple[int, int]]
"""Return base and offset of what a call, by its number, finds at an offset into the arena."""


class Access(NamedTuple):
    """List the buffers that one of the calls of a step reads, and those that it writes."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]


BEFORE, START, END, AFTER = range(4)
"""When a step uses a buffer: before a body, where that starts or ends, or when sizes are found."""


class Use(NamedTuple):
    """Record when a step uses a buffer; `body` is the name of the body that starts or ends."""

    buffer: int
    when: int
    body: str = ""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)  # subclasses have them
class Step(Kind):
    """Base of all steps; a subclass is a frozen dataclass with a `kind`, and fields of its own.

    `operands` and `results` are numbers of buffers, in `space`. `reason` explains why a step does
    not run on the first target of its package. A step of a kind with `at_load` may run when the
    package is loaded, before there are inputs. One of a kind without `lists_buffers` reads and
    writes others than its operands and results. One of a kind that is `by_address` needs no arrays,
    but the addresses of their memory alone.

    A step with `finds` begins a stage, and what `load` returns makes a `Find` instead of a `Run`;
    only those of a kind with `finds_sizes` do. One with `finds_inside` begins a stage in its body.

    `load` is called once for each package, what it returns once for each session, and what that
    returns in each run. A kind that needs no more than the session's memory overrides `run` alone.
    """

    group: ClassVar[str] = "trivium.steps"
    module: ClassVar[str] = "step"
    space: ClassVar[str] = PROCESS
    at_load: ClassVar[bool] = False
    lists_buffers: ClassVar[bool] = True
    by_address: ClassVar[bool] = False
    finds_sizes: ClassVar[bool] = False

    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    reason: str = ""
    finds: tuple[FoundSize, ...] = field(default=(), metadata=LEFT_OUT)

    def inner(self) -> "Mapping[str, tuple[Step, ...]]":
        """Return the steps of each body of the step, by where the body is in it."""
        return {}

    @property
    def finds_inside(self) -> "tuple[FoundSize, ...]":
        """Return the sizes that are found each time that the body of the step begins."""
        return ()

    @property
    def begins_stages(self) -> bool:
        """Return whether the step or its body finds sizes."""
        return bool(self.finds or self.finds_inside)

    @property
    def taken(self) -> tuple[int, ...]:
        """Return the buffers that the body takes and in which it finds sizes."""
        return ()

    def uses(self) -> "Iterator[Use]":
        """Yield the buffers, beside operands and results, that the step itself reads or writes."""
        return iter(())

    def accesses(self) -> "list[Access]":
        """List what calls of the step access that a session may make one by one; none by default.

        Where the state of a session has an allocation, `bind` returns `CallRuns` of as many. Raises
        RunError where the package does not say.
        """
        return []

    def check(self, contents: Contents, where: str) -> None:
        """Raise PackageError where fields do not fit together or to the package.

        The numbers of buffers are checked before, and that results may be written.
        """
        self.check_space(contents, where)

    def load(self, loader: Loader) -> Bind:
        """Return how sessions bind the step."""
        return self.bind

    def bind(self, state: SessionState) -> Run:
        """Return what a run of a session calls."""
        return partial(self.run, state)

    def run(self, state: SessionState) -> None:
        """Do the step in the memory of a session."""
        raise NotImplementedError

    def queue(self, contents: Contents) -> str:
        """Return the memory space in whose queue the step is done, after `run` has returned.

        That of the process means that it is done then.
        """
        return self.space

    def operation(self, contents: Contents) -> str:
        """Return what the step does, in a few words for reports."""
        return self.kind

    @property
    def target(self) -> str:
        """Return the name of the target that made the step."""
        return self.kind

    @classmethod
    def summary(cls, steps: Sequence["Step"]) -> str:
        """Return what all steps of this kind do, in a few words for reports."""
        return f"{len(steps)} steps on {cls.kind}"

    def check_space(self, contents: Contents, where: str) -> None:
        """Raise PackageError where an operand or a result is in another memory space."""
        for kind, indices in (("operands", self.operands), ("results", self.results)):
            for i, index in enumerate(indices):
                if index == ABSENT:
                    continue
                space = contents.space_of(contents.buffers[index].base)
                if space != self.space:
                    raise PackageError(
                        f"'{where}.{kind}[{i}]' is {index}, which is in memory '{space}', must be "
                        f"in '{self.space}'"
                    )


def do(steps: Sequence[Run]) -> None:
    """Do steps that are bound, in order."""
    for step in steps:
        step()


def all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield steps, each before those inside of it."""
    for step in steps:
        yield step
        for inner in step.inner().values():
            yield from all_steps(inner)
