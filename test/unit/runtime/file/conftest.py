"""Watch which bytes of packages are compared with their checksums."""

import pytest
from trivium.runtime.file import checked_entries
from trivium.runtime.file.checksum import has_checksum


@pytest.fixture
def summed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the sizes of what checksums were computed of."""
    sizes: list[int] = []

    def count(data: memoryview, wanted: str) -> bool:
        sizes.append(len(data))
        return has_checksum(data, wanted)

    monkeypatch.setattr(checked_entries, "has_checksum", count)
    return sizes
