"""ONNX rules for operators on strings."""

from ......dialects import tri
from ......dialects.core.errors import Invalid, need_one_of
from ......dialects.core.sizes.atoms import Size
from ...registry import Node, Value, onnx_op
from ..selection import Results, found_results


@onnx_op("StringConcat", since=20)
def string_concat(x: Value, y: Value) -> tri.StringConcat:
    return tri.StringConcat.build(x, y)


@onnx_op("StringSplit", since=20)
def string_split(
    x: Value, *, delimiter: str = "", maxsplit: int | None = None, node: Node
) -> Results:
    most = -1 if maxsplit is None else maxsplit
    return found_results(
        node,
        [x],
        lambda parts: tri.StringSplit(parts=parts, delimiter=delimiter, maxsplit=most),
    )


@onnx_op("StringNormalizer", since=10)
def string_normalizer(
    x: Value,
    *,
    case_change_action: str = "NONE",
    is_case_sensitive: int = 0,
    locale: str = "",
    stopwords: tuple[str, ...] = (),
    node: Node,
) -> Results:
    """Change case by Unicode's rules, which those of most locales are."""
    need_one_of("case_change_action", case_change_action, ("LOWER", "UPPER", "NONE"))
    case, sensitive = case_change_action.lower(), bool(is_case_sensitive)

    def normalize(count: Size) -> tri.StringNormalize:
        return tri.StringNormalize(
            count=count, case=case, case_sensitive=sensitive, stopwords=stopwords
        )

    return found_results(node, [x], normalize)


@onnx_op("RegexFullMatch", since=20)
def regex_full_match(x: Value, *, pattern: str | None = None) -> tri.RegexFullMatch:
    if pattern is None:
        raise Invalid("lacks attribute 'pattern'")
    return tri.RegexFullMatch.build(x, pattern=pattern)
