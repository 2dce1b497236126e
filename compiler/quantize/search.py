"""How few of a list are enough."""

from collections.abc import Callable


def fewest(is_enough: Callable[[int], bool], most: int) -> int:
    """Return a number from 0 to `most` that is enough, where one less is not.

    It is the least of all when more is never worse. `most` is enough, and never asked. First
    numbers double, then the gap is halved: few questions, most of them about small numbers.
    """
    if most == 0 or is_enough(0):
        return 0
    below, above = 0, 1
    while above < most and not is_enough(above):
        below, above = above, 2 * above
    above = min(above, most)
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if is_enough(middle) else (middle, above)
    return above


def fewest_checked(
    is_likely: Callable[[int], bool], is_enough: Callable[[int], bool], most: int
) -> int:
    """Return a number that is enough, asking that as rarely as a quicker guess lets it.

    It is no less than the fewest that is likely to be enough.
    """
    near = fewest(is_likely, most)
    return near + fewest(lambda more: is_enough(near + more), most - near)
