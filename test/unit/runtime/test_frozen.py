"""Frozen classes beside what `dataclass(frozen=True)` makes of the same fields."""

import copy
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest
from trivium.runtime.frozen import Frozen


class Base(Frozen):
    """Fields of all kinds."""

    unit: ClassVar[str] = "bytes"

    name: str
    sizes: tuple[int, ...] = ()
    table: Mapping[str, int] = field(default_factory=dict[str, int])
    note: str = field(default="", compare=False)

    @cached_property
    def total(self) -> int:
        """Return what is computed once."""
        return sum(self.sizes)


class Wider(Base, kw_only=True):
    """A field more, by name alone."""

    extra: int


@dataclass(frozen=True)
class PlainBase:
    """The fields of Base."""

    unit: ClassVar[str] = "bytes"

    name: str
    sizes: tuple[int, ...] = ()
    table: Mapping[str, int] = field(default_factory=dict[str, int])
    note: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class PlainWider(PlainBase):
    """The fields of Wider."""

    extra: int


PAIRS = [(Base, PlainBase), (Wider, PlainWider)]
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    (("a",), {}),
    (("a", (1, 2)), {"note": "n"}),
    (("a", (1, 2), {"b": 1}, "n"), {}),
    (("a",), {"extra": 3}),
    ((), {"name": "a", "extra": 3, "sizes": (4,)}),
    ((), {}),
    ((), {"sizes": (1,), "extra": 1}),
    (("a", (), {}, "", 3), {}),
    (("a",), {"name": "a", "extra": 3}),
    (("a",), {"extra": 3, "other": 4}),
    ((), {"names": "a", "extra": 3}),
]


def made(kind: type[Any], call: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
    arguments, named = call
    try:
        return kind(*arguments, **named)
    except TypeError:
        return None


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("kind", "plain"), PAIRS)
def test_takes_what_a_dataclass_takes(kind: type[Any], plain: type[Any], call: Any):
    got, wanted = made(kind, call), made(plain, call)
    assert (got is None) == (wanted is None)
    if wanted is not None:
        assert vars(got) == vars(wanted)
        assert repr(got) == repr(wanted).replace("Plain", "")


def test_says_what_is_wrong_with_a_call():
    with pytest.raises(TypeError, match=r"Wider lacks \['extra'\], does not know \['size'\]"):
        Wider("a", size=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Base takes 4 values, got 5"):
        Base("a", (), {}, "", 1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Base got \['name'\] twice"):
        Base("a", name="a")  # type: ignore[misc]


def test_equals_those_of_its_class_by_fields_that_are_compared():
    assert Base("a", (1,), note="x") == Base("a", (1,), note="y")
    assert Base("a") != Base("b")
    assert Base("a") != PlainBase("a")
    assert Wider("a", extra=1) != Base("a")
    frozen = (Base("a", (1,), ()), Base("a", (1,), (), "n"))  # type: ignore[arg-type]
    assert len(set(frozen)) == 1


def test_has_its_own_defaults():
    one, other = Base("a"), Base("a")
    assert one.table == {}
    assert one.table is not other.table


def test_does_not_change():
    value = Base("a", (1, 2))
    with pytest.raises(FrozenInstanceError):
        value.name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del value.name
    assert value.name == "a"
    assert value.total == 3
    assert value == Base("a", (1, 2))


@pytest.mark.parametrize(("kind", "plain"), PAIRS)
def test_is_a_dataclass_to_others(kind: type[Any], plain: type[Any]):
    assert is_dataclass(kind)
    assert [f.name for f in fields(kind)] == [f.name for f in fields(plain)]
    assert kind.__match_args__ == plain.__match_args__


def test_is_replaced_and_copied():
    value = Wider("a", (1,), extra=2)
    assert replace(value, extra=3) == Wider("a", (1,), extra=3)
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(TypeError):
        replace(value, other=3)  # type: ignore[call-arg]


def test_is_changed_as_it_is_replaced():
    value = Wider("a", (1, 2), extra=2)
    assert value.total == 3
    changed = value.changed(sizes=(4,), note="n")
    assert vars(changed) == vars(replace(value, sizes=(4,), note="n"))
    assert (changed.total, value.total) == (4, 3)
    with pytest.raises(TypeError, match=r"Wider does not know \['other'\]"):
        value.changed(other=3)
