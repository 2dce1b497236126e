"""The part of a manifest that says what is what in a decoder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ..contents import Contents, Part, Port
from ..errors import PackageError, RunError
from ..frozen import Frozen
from ..kinds import LEFT_OUT
from ..schema import Attribute

if TYPE_CHECKING:
    from .sampling import Sampling

NO_ROWS = -1
"""Stands for the axis of the rows of state that has none."""

PORT_RANKS = {"ids": 2, "mask": 2, "positions": 2, "rows": 1, "starts": 1, "totals": 1}


class CachePort(Frozen):
    """Name an output that is an input of the next step, with the axes of its entries and rows.

    `rows_axis` is `NO_ROWS` where a step replaces the whole value, as an LSTM does.
    """

    output: str
    input: str
    batch_axis: int
    rows_axis: int


@dataclass(frozen=True)
class GenerationPart(Part):
    """Name the ports of a decoder; those that it does not have are empty.

    `ids` are tokens [batch, length], `mask` is one for each row in use [batch, rows], `positions`
    are those of the tokens; `rows` lists of which of the tokens `logits` are computed. `starts` and
    `totals` are how many tokens a text has before and after a step [batch]. `ends` are tokens that
    end a text, `sampling` are fields of `Sampling` that are not its defaults.
    """

    kind: ClassVar[str] = "generation"

    ids: str = ""
    logits: str = ""
    mask: str = ""
    positions: str = ""
    rows: str = ""
    caches: tuple[CachePort, ...] = ()
    starts: str = field(default="", metadata=LEFT_OUT)
    totals: str = field(default="", metadata=LEFT_OUT)
    ends: tuple[int, ...] = field(default=(), metadata=LEFT_OUT)
    sampling: Mapping[str, Attribute] = field(
        default_factory=dict[str, Attribute], metadata=LEFT_OUT
    )

    def check(self, contents: Contents) -> None:
        inputs = {port.name: port for port in contents.inputs}
        outputs = {port.name: port for port in contents.outputs}
        for kind, rank in PORT_RANKS.items():
            name = getattr(self, kind)
            found = inputs.get(name)
            if (name or kind == "ids") and (
                found is None or len(found.shape) != rank or found.dtype not in ("int32", "int64")
            ):
                raise PackageError(
                    f"'{kind}' is '{name}', must be an input of i32 or i64, {rank}-D"
                )
        logits = outputs.get(self.logits)
        if logits is None or len(logits.shape) != 3:
            raise PackageError(
                f"'logits' is '{self.logits}', must be an output [batch, rows, words]"
            )
        taken = [getattr(self, kind) for kind in PORT_RANKS]
        for i, each in enumerate(self.caches):
            before, after = inputs.get(each.input), outputs.get(each.output)
            if (
                before is None
                or after is None
                or each.input in taken
                or not _fit(each, before, after)
            ):
                raise PackageError(
                    f"'caches[{i}]' is from '{each.output}' to '{each.input}', must be an output "
                    "and an input of one type, each input once, with axes of theirs"
                )
            taken.append(each.input)
        self._check_choices(logits)

    def _check_choices(self, logits: Port) -> None:
        words = logits.shape[-1]
        if wrong := [
            end for end in self.ends if not 0 <= end < (words if type(words) is int else 0)
        ]:
            raise PackageError(f"'ends' has {wrong[0]}, must be tokens below {words}")
        try:
            self.chosen_by()
        except (RunError, TypeError) as error:
            raise PackageError(f"'sampling' does not fit: {error}") from None

    def chosen_by(self) -> "Sampling":
        """Return how tokens are chosen unless the user says otherwise.

        Raises RunError and TypeError for what are no values of `Sampling`.
        """
        from .sampling import Sampling

        return Sampling(**self.sampling)

    def summary(self) -> str:
        from ..spelling import count

        return f"a decoder with {count(len(self.caches), 'cache')}" if self.ids else ""


def _fit(cache: CachePort, before: Port, after: Port) -> bool:
    rank, axes = len(before.shape), (cache.batch_axis, cache.rows_axis)
    return (
        (before.dtype, rank) == (after.dtype, len(after.shape))
        and 0 <= cache.batch_axis < rank
        and NO_ROWS <= cache.rows_axis < rank
        and len({*axes}) == 2
    )
