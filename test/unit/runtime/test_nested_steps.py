"""What a manifest must say of branches and loops: steps that hold steps."""

from dataclasses import replace

import numpy as np
import pytest
from trivium.runtime.branch.step import BranchStep
from trivium.runtime.checks import check
from trivium.runtime.contents import ABSENT, ARENA, FIRST_PORT, WEIGHTS, Buffer, Entry, Memory, Port
from trivium.runtime.errors import PackageError
from trivium.runtime.host.step import HostStep
from trivium.runtime.loop.step import LoopStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.nested import Body, Move
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.runtime.step import Step, all_steps

X, CONDITION, COUNT, Y, ALL, NUMBER, SUM, ELEMENT, WEIGHT = range(9)
OUTPUT = FIRST_PORT + 3
BUFFERS = (
    Buffer("x", FIRST_PORT, 0, (4, 2), "float32"),
    Buffer("c", FIRST_PORT + 1, 0, (), "bool"),
    Buffer("n", FIRST_PORT + 2, 0, (), "int64"),
    Buffer("y", OUTPUT, 0, (2,), "float32"),
    Buffer("all", OUTPUT + 1, 0, (4, 2), "float32"),
    Buffer("i", ARENA, 0, (), "int64"),
    Buffer("sum", ARENA, 64, (2,), "float32"),
    Buffer("element", ARENA, 128, (2,), "float32"),
    Buffer("w", WEIGHTS, 0, (2,), "float32"),
)


def add(a: int, b: int, result: int) -> HostStep:
    return HostStep(op="tri.add", operands=(a, b), results=(result,))


SCAN = LoopStep(
    operands=(ABSENT, ABSENT, WEIGHT, X),
    results=(Y, ALL),
    iterations=4,
    number=NUMBER,
    next=ABSENT,
    body=Body((add(Y, ELEMENT, SUM),), (Move(SUM, Y),)),
    first=(Move(WEIGHT, Y),),
    elements=(Move(X, ELEMENT),),
    outputs=(Move(SUM, ALL),),
)
BRANCH = BranchStep(
    operands=(CONDITION, WEIGHT),
    results=(Y,),
    then=Body((add(WEIGHT, WEIGHT, Y),)),
    otherwise=Body((), (Move(WEIGHT, Y),)),
)


def manifest(*steps: Step) -> Manifest:
    ports = [Port(b.name, b.shape, b.dtype, i) for i, b in enumerate(BUFFERS[:5])]
    return Manifest(
        producer="test",
        source="",
        target="cpu",
        inputs=tuple(ports[:3]),
        outputs=tuple(ports[3:]),
        buffers=BUFFERS,
        memory=Memory(192, 192, 8),
        entries=(Entry("weights.bin", 8, ""),),
        steps=steps,
    )


def refusal(step: Step) -> str:
    with pytest.raises(PackageError) as caught:
        check(manifest(step))
    return str(caught.value)


def test_what_is_joined_is_gathered() -> None:
    assert "'steps[0].joined' is 1, must be from 0 to 0" in refusal(replace(SCAN, joined=1))
    found = replace(SCAN, outputs=(), gathered=(Move(SUM, ALL),), joined=1)
    assert "has buffers of [1, 2] axes" in refusal(found)


def test_nested_steps_survive_json() -> None:
    made = manifest(SCAN, BRANCH)
    check(made)
    again = Manifest.from_json(made.to_json())
    assert again == made
    assert [step.kind for step in all_steps(again.steps)] == ["loop", "host", "branch", "host"]


def test_a_scan_adds_up() -> None:
    w = np.array([10, 20], np.float32)
    package = Package.create(replace(manifest(SCAN), entries=()), {"weights.bin": w.tobytes()})
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    results = Session(package).run({"x": x, "c": np.array(True), "n": np.array(0)})
    np.testing.assert_array_equal(results["all"], w + np.cumsum(x, 0))
    np.testing.assert_array_equal(results["y"], w + x.sum(0))


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (replace(SCAN, iterations=-2), "'steps[0].iterations' is -2, must be -1 or more"),
        (replace(SCAN, operands=(ABSENT,)), "must have a trip count and a condition"),
        (replace(SCAN, next=CONDITION), "has one of two conditions, must have both or none"),
        (replace(SCAN, iterations=-1), "'steps[0]' never ends"),
        (replace(SCAN, number=WEIGHT), "is 8, which would overwrite an input or the weights"),
        (replace(SCAN, number=SUM), ""),
        (replace(SCAN, number=-1), "'steps[0].number' is -1, must be at least 0 and below 9"),
        (replace(SCAN, number=ALL), "'steps[0].number' has 32 bytes, must have 8"),
        (replace(SCAN, operands=(CONDITION, ABSENT)), "'steps[0].operands[0]' has 1 bytes"),
        (replace(SCAN, first=(Move(X, Y),)), "moves buffers of 32 and 8 bytes, must be as large"),
        (replace(SCAN, first=(Move(Y, WEIGHT),)), "would overwrite an input or the weights"),
        (replace(SCAN, first=(Move(-1, Y),)), "'steps[0].first[0].source' is -1"),
        (replace(SCAN, first=(Move(9, Y),)), "'steps[0].first[0].source' is 9, must be at least"),
        (replace(SCAN, elements=(Move(SUM, ELEMENT),)), "has 8 bytes, must have 4 times 8"),
        (replace(SCAN, outputs=(Move(SUM, Y),)), "'steps[0].outputs[0].target' has 8 bytes"),
        (replace(SCAN, outputs=(Move(SUM, X),)), "would overwrite an input or the weights"),
        (replace(SCAN, body=Body(fault="no")), "has a body with a fault, must have one that runs"),
        (
            replace(SCAN, body=Body((add(Y, ELEMENT, WEIGHT),))),
            "'steps[0].body.steps[0].results[0]' is 8, which would overwrite the weights",
        ),
        (replace(BRANCH, operands=()), "is a branch, must have a condition"),
        (replace(BRANCH, operands=(COUNT,)), "has a condition of 8 bytes, must be of 1"),
        (
            replace(BRANCH, otherwise=Body((BRANCH, replace(BRANCH, results=(99,))))),
            "'steps[0].otherwise.steps[1].results[0]' is 99",
        ),
    ],
)
def test_nothing_lets_nested_steps_out_of_bounds(step: Step, fault: str) -> None:
    if not fault:
        check(manifest(step))
        return
    assert fault in refusal(step)


def test_a_deeply_nested_manifest_is_refused() -> None:
    step = BRANCH
    for _ in range(50):
        step = replace(BRANCH, then=Body((step,)))
    text = manifest(step).to_json()
    check(Manifest.from_json(text))
    head, tail = text.split('"steps":[', 1)
    deep = head + '"steps":[' + '{"kind":"branch","then":{"steps":[' * 100_000
    with pytest.raises(PackageError):
        Manifest.from_json(deep + tail)
