"""Draw the utilization of an engine over time, as a line of characters."""

from collections.abc import Iterable

SHADES = " .:-=+*#%@"
LEGEND = "blank: waits, then .:-=+*#% by eighths of the time, @: works all the time"


def shade(spans: Iterable[tuple[int, int]], total: int, width: int) -> str:
    """Return `width` characters for `total` cycles, of which spans are busy.

    Spans have a start and an end, and do not overlap. A column with any work is not blank, a column
    with any waiting is not `@`.
    """
    busy = [0] * width  # a column is `total` long, and a cycle `width`: all is whole numbers
    for start, end in spans:
        for column in range(start * width // total, -(-end * width // total)):
            least, most = column * total, (column + 1) * total
            busy[column] += min(end * width, most) - max(start * width, least)
    return "".join(_shade_of(part, total) for part in busy)


def _shade_of(part: int, whole: int) -> str:
    if part in (0, whole):
        return SHADES[0] if part == 0 else SHADES[-1]
    return SHADES[1 + part * (len(SHADES) - 2) // whole]
