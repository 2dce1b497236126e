"""Count the pages of a mapped file that are in memory."""

import re
from pathlib import Path


def resident(path: Path) -> int:
    """Return how many bytes of a mapped file are in the memory of this process."""
    blocks = re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text())
    found = [re.search(r"^Rss: +(\d+) kB$", b, re.M) for b in blocks if str(path) in b]
    return sum(1024 * int(each[1]) for each in found if each)
