"""Texts of PNNX files, from lines of operators."""


def text(*lines: str) -> str:
    """Return the text of a `.param` file; operands are counted by the outputs that lines have."""
    operands = sum(int(line.split()[3]) for line in lines)
    return "\n".join(["7767517", f"{len(lines)} {operands}", *lines, ""])


def unary(line: str, shape: str = "(2,3)f32", made: str = "") -> str:
    """Return the text of a graph of one operator, `line`, from operand 0 to operand 1."""
    name, *rest = line.split(" ")
    types = f" #0={shape}" + (f" #1={made}" if made else "")
    return text(
        f"pnnx.Input pnnx_input_0 0 1 0 #0={shape}",
        f"{name} op 1 1 0 1 {' '.join(rest)}{types}",
        "pnnx.Output pnnx_output_0 1 0 1",
    )
