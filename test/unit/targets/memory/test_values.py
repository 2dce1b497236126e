from pathlib import Path

import pytest
import trivium
from trivium.runtime.contents import PROCESS
from trivium.targets.memory.values import space_named

COPY = """module {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = "tri.copy"(%x) {to = "moon"} : (tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }
}"""


def test_memories_are_found_by_name() -> None:
    assert [space_named(name).name for name in (PROCESS, "gpu")] == [PROCESS, "gpu"]


def test_a_copy_to_a_memory_that_no_target_has_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(COPY)
    with pytest.raises(trivium.CompileError, match="no target has a memory called 'moon'"):
        trivium.build(tmp_path / "m.mlir")
