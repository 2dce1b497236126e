"""Lines of source that are not too long."""

WIDTH = 100
INDENT = "    "


def wrapped(line: str, depth: int = 0) -> list[str]:
    """Indent a line; give each argument of its last call a line when it is too long."""
    margin = INDENT * depth
    if len(margin + line) <= WIDTH or not line.endswith((")", "):")):
        return [margin + line]
    start = _opening(line)
    head, tail = line[: start + 1], line[line.rindex(")") :]
    arguments = _arguments(line[start + 1 : line.rindex(")")])
    return [margin + head, *(f"{margin}{INDENT}{each}," for each in arguments), margin + tail]


def _opening(line: str) -> int:
    """Find the bracket that the last closing one belongs to."""
    depth = 0
    for position in range(line.rindex(")"), -1, -1):
        depth += (line[position] == ")") - (line[position] == "(")
        if depth == 0:
            return position
    raise AssertionError(f"brackets do not match: {line}")


def _arguments(text: str) -> list[str]:
    """Split at the commas that are in no brackets."""
    found: list[str] = []
    depth = start = 0
    for position, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            found.append(text[start:position].strip())
            start = position + 1
    return [*found, text[start:].strip()]
