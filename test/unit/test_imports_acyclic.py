"""No module imports itself by way of others; imports for type checkers and in functions count."""

from collections.abc import Iterator, Mapping, Sequence

import grimp
import pytest

Imports = Mapping[str, Sequence[str]]


def cycles(imports: Imports) -> set[tuple[str, ...]]:
    """Return the sets of modules that import one another, directly or not, each sorted.

    Source: Tarjan, "Depth-first search and linear graph algorithms", 1972.
    """
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []

    def visit(module: str) -> Iterator[tuple[str, ...]]:
        number[module] = lowest[module] = len(number)
        path.append(module)
        for imported in imports.get(module, ()):
            if imported not in number:
                yield from visit(imported)
                lowest[module] = min(lowest[module], lowest[imported])
            elif imported in path:
                lowest[module] = min(lowest[module], number[imported])
        if lowest[module] == number[module]:
            start = path.index(module)
            component = path[start:]
            del path[start:]
            if len(component) > 1 or module in imports.get(module, ()):
                yield tuple(sorted(component))

    return {found for each in imports if each not in number for found in visit(each)}


def test_no_module_of_the_product_imports_itself() -> None:
    graph = grimp.build_graph("trivium", exclude_type_checking_imports=False, cache_dir=None)
    modules = {m for m in graph.modules if not m.startswith("trivium.test")}
    assert {"trivium.dialects.core.op", "trivium.runtime.session"} <= modules
    imports = {m: sorted(graph.find_modules_directly_imported_by(m)) for m in sorted(modules)}
    assert not cycles(imports)


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ({"a": "b", "b": "c", "c": ""}, set()),
        ({"a": "bc", "b": "d", "c": "d", "d": ""}, set()),
        ({"a": "a"}, {("a",)}),
        ({"a": "b", "b": "a"}, {("a", "b")}),
        ({"a": "b", "b": "c", "c": "bd", "d": "e", "e": "d"}, {("b", "c"), ("d", "e")}),
        ({"a": "b", "b": "cd", "c": "a", "d": "b"}, {("a", "b", "c", "d")}),
    ],
)
def test_finds_cycles(imports: Mapping[str, str], expected: set[tuple[str, ...]]) -> None:
    assert cycles({module: [*imported] for module, imported in imports.items()}) == expected
