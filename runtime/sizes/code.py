"""Write the code of a function that computes many numbers: what one place alone uses, stands there.

A variable takes longer than the operation whose value it is.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

_LONGEST = 240
"""The characters of code that may stand in other code: it bounds how deep parentheses nest."""

_NAME = re.compile(r"\bv[0-9]+\b")
_MAY_FAIL = re.compile(r"// (?![1-9])")


def write_function(
    parameters: Sequence[str], lines: Mapping[str, str], groups: Sequence[Sequence[str]]
) -> str:
    """Return the code of `compute`, which returns a tuple of values for each group.

    `lines` are operations by the names of their values, `v0`, `v1`; each may use earlier ones.
    Those that nothing uses are left out, if they cannot divide by 0.
    """
    uses = _uses(lines, groups)
    written: dict[str, str] = {}
    body: list[str] = []
    for name, code in lines.items():
        if name not in uses:
            continue
        full = _with(code, written)
        if uses[name] == 1 and len(full) <= _LONGEST:
            written[name] = f"({full})"
        else:
            body.append(f"{name} = {full}")
    values = ", ".join(f"({_with(''.join(f'{v}, ' for v in group), written)})" for group in groups)
    body.append(f"return ({values},)")
    return f"def compute({', '.join(parameters)}):\n " + "\n ".join(body) + "\n"


def _uses(lines: Mapping[str, str], groups: Sequence[Sequence[str]]) -> Counter[str]:
    """Count where each variable is used; one that may fail counts as used once more."""
    uses = Counter(name for group in groups for text in group for name in _NAME.findall(text))
    for name, code in reversed(list(lines.items())):
        if _MAY_FAIL.search(code):
            uses[name] += 2
        if uses[name]:
            uses.update(_NAME.findall(code))
    return +uses


def _with(code: str, written: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: written.get(found[0], found[0]), code)
