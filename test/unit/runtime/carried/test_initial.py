"""What the state of a session begins with, as a package has it."""

from dataclasses import replace

import numpy as np
import pytest
import trivium
from trivium.runtime import Package, PackageError, Session
from trivium.runtime.contents import STATE_ENTRY

COUNTS = """
func.func @main(%x: tensor<2xi64>, %count: tensor<2xi64>)
    -> (tensor<2xi64>, tensor<2xi64>) attributes {
  trivium.inputs = ["x", "count"], trivium.outputs = ["y", "next"],
  trivium.state = {next = "count"}, trivium.initial = {count = dense<[3, 4]> : tensor<2xi64>}
} {
  %y = "tri.add"(%x, %count) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  return %y, %y : tensor<2xi64>, tensor<2xi64>
}
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    path = tmp_path_factory.mktemp("counts") / "counts.mlir"
    path.write_text(COUNTS)
    return trivium.build(path, target="host")


def test_state_begins_as_the_package_has_it(package: Package) -> None:
    session, one = Session(package), np.ones(2, np.int64)
    assert session(one).tolist() == [4, 5]
    assert session(one).tolist() == [5, 6]
    session.reset_state()
    assert session.state["count"].tolist() == [3, 4]
    assert session.clone()(one).tolist() == [4, 5]


@pytest.mark.parametrize(
    ("change", "size"),
    [({"initial": 8}, 16), ({"initial": -1}, 16), ({}, 8), ({"is_bound": False}, 16)],
)
def test_places_outside_of_the_entry_are_refused(
    package: Package, change: dict[str, int], size: int
) -> None:
    (pair,) = package.manifest.carried
    manifest = replace(package.manifest, carried=(replace(pair, **change),))
    entries = {**package.entries, STATE_ENTRY: bytes(size)}
    with pytest.raises(
        PackageError, match=r"'carried\[0\].initial' is .*, must be the place of 16"
    ):
        Package.create(manifest, entries)
