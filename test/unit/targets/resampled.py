"""Images of N, H and W that are resampled, as ops whose shapes are texts."""

from typing import Any

from symbolic_groups import Dynamic
from trivium.dialects import tri

CROPPED: dict[str, Any] = {
    "roi": (0.0, 0.0, 0.1, 0.2, 1.0, 1.0, 0.7, 1.2),
    "extrapolation_value": 0.5,
}

SAMPLED = [
    *[
        Dynamic(tri.GridSample, ["N 3 H W", "N 5 4 2"], {"mode": mode, "padding_mode": padding})
        for mode, padding in (("linear", "zeros"), ("cubic", "reflection"), ("nearest", "border"))
    ],
    *[
        Dynamic(
            tri.Resize,
            ["N 3 H W"],
            {
                "sizes": ("=N", 3, "=2*H", new_width),
                "scales": (1.0, 1.0, 2.0, scale),
                "mode": mode,
                "coordinate_transform": transform,
                **more,
            },
            exact=False,
        )
        for new_width, scale, mode, transform, more in (
            ("=2*W", 2.0, "linear", "half_pixel", {}),
            ("=W//2+1", 0.75, "linear", "pytorch_half_pixel", {"antialias": True}),
            ("=2*W", 2.0, "cubic", "align_corners", {"exclude_outside": True}),
            ("=3*W", 2.5, "linear", "half_pixel_symmetric", {}),
            ("=W+1", 1.5, "cubic", "tf_crop_and_resize", CROPPED),
            ("=2*W-1", 1.5, "nearest", "tf_crop_and_resize", CROPPED),
            ("=W+1", 1.5, "nearest", "asymmetric", {"nearest_mode": "floor"}),
            ("=W+1", 1.5, "nearest", "tf_half_pixel_for_nn", {"nearest_mode": "ceil"}),
        )
    ],
]
