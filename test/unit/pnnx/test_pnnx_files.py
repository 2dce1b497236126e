from pathlib import Path

from pnnx_suite import CASES, needs_suite
from trivium.compiler.frontends.pnnx import read_pnnx, write_pnnx


@needs_suite
def test_every_file_of_the_suite_is_written_as_it_was(tmp_path: Path):
    param, weights = tmp_path / "model.pnnx.param", tmp_path / "model.pnnx.bin"
    for case in CASES:
        write_pnnx(read_pnnx(case / "model.pnnx.param"), param, weights)
        assert param.read_bytes() == (case / "model.pnnx.param").read_bytes(), case.name
        assert weights.read_bytes() == (case / "model.pnnx.bin").read_bytes(), case.name
