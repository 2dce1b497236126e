"""MLIR bytecode is read in a child process, and a damaged file is refused in one line."""

import io

import pytest
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.ir.bytecode import read_bytecode
from trivium.dialects.core.mlir import ir, new_context

TEXT = """
func.func @main(%x: tensor<2x3xf32> loc("x")) -> tensor<2x3xf32> {
  %0 = "tri.relu"(%x) {note.text = "naïve\\0A"} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y"("b"))
  return %0 : tensor<2x3xf32>
}
"""

# Bytecode of a function that returns its argument, in which some bytes were changed or left out.
CRASHES = (
    "4d4cef520d4d4c495232342e302e306769740001170501050701030b0305070f03210f07010f0b130b0b1313130107"
    "13170702410509170101010d03050b170103551b03090505030103010b043d050150030107042d0301050350090307"
    "041903030703030b0005040d0301060301050100530d0b050f0f0b116275696c74696e0066756e63006d6f64756c61"
    "0072657475726e002d006d61696e000817050501010d010501010701"
)
RUNS_OUT_OF_MEMORY = (
    "4d4cef520d4d4c495232342e302e306769740001170501050701030b0305070f03210f07010f0b130b0b1313130107"
    "13170702410509170101010d03050b170103031701032d170103551b03090505030103010b043d050150030107042d"
    "2e01050350090307041903030703030b0005040d0301060301050100530d0b050f0f0b116275696c74696e0066756e"
    "63006d6f64756c650072657475726e002d006d61696e000817050501010d010501010701"
)
HANGS = (
    "4d4cef520d4d4c495232342e302e306769740001170501050701030b0305070f03210f07010f0b130b0b1313130107"
    "13170702410509170101010d03050b170103031701032d170103551b03090505230103010b043d050150030107042d"
    "0301050350090307041903030703030b0005040d0301060301050100530d0b050f0f0b116275696c74696e0066756e"
    "63006d6f64756c650072657475726e002d006d61696e000817050501010d010501010701"
)


def bytecode_of(text: str) -> bytes:
    file = io.BytesIO()
    with new_context():
        ir.Module.parse(text).operation.write_bytecode(file)
    return file.getvalue()


def generic(data: str | bytes) -> str:
    with new_context():
        operation = ir.Module.parse(data).operation
        return operation.get_asm(print_generic_op_form=True, enable_debug_info=True)


def test_text_of_bytecode_is_the_module_that_was_written() -> None:
    data = bytecode_of(TEXT)
    assert generic(read_bytecode(data, "a.mlirbc")) == generic(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (bytes.fromhex(CRASHES), "MLIR's reader crashes with SIGSEGV"),
        (bytes.fromhex(RUNS_OUT_OF_MEMORY), "MLIR's reader crashes with SIGABRT"),
        (bytes.fromhex(HANGS), "MLIR's reader does not come to an end"),
        (b"ML\xefR", "attempting to parse a byte at the end of the bytecode"),
        (bytecode_of(TEXT)[:-9], ""),
        (bytecode_of(TEXT.replace("ï", r"\FF")), r'string "na\FFve\0A" is not UTF-8'),
    ],
    ids=["crash", "memory", "hang", "empty", "truncated", "not UTF-8"],
)
def test_damaged_bytecode_is_refused_in_one_line(data: bytes, reason: str) -> None:
    with pytest.raises(CompileError) as error:
        read_bytecode(data, "a.mlirbc")
    assert str(error.value).startswith(f"a.mlirbc: error: is not MLIR bytecode: {reason}")
    assert "\n" not in str(error.value)
