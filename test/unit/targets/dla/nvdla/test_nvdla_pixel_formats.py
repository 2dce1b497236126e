"""Images of pixels: what is written in a format is what is read."""

import numpy as np
from trivium.targets.dla.nvdla.format.network import Precision
from trivium.targets.dla.nvdla.pixels import FORMATS, ImageLayout


def test_every_format_is_read_as_it_is_written() -> None:
    rng = np.random.default_rng(13)
    for form in FORMATS:
        wide = form.precision != Precision.INT8
        image = rng.integers(0, 1 << (16 if wide else 8), (form.channels, 3, 4))
        image = image.astype(np.uint16 if wide else np.uint8)
        if str(form).replace("Y", "R").count("10") == 3 and form.channels == 4:
            image &= np.array([0xFFC0] * 3 + [0xC000], np.uint16)[:, None, None]
        layout = ImageLayout(form, 3, 4, (0, 128)[: len(form.planes)], (32, 32)[: len(form.planes)])
        memory = np.zeros(256, np.uint8)
        layout.write(image, memory)
        assert np.array_equal(layout.read(memory), image), form
