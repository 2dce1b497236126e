"""Calibration by a folder of images or .npy files, with preprocessing written out again here."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.compiler.quantize import Preprocessing
from trivium.tools.main import main

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
RANDOM = np.random.default_rng(9)
PIXELS = RANDOM.integers(0, 256, (6, 8, 10, 3)).astype(np.uint8)
MEAN, STD = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)


def net(layout: str = "nchw", dtype: str = "float") -> onnx.ModelProto:
    shape = {"nchw": "2, 3, 8, 10", "nhwc": "2, 8, 10, 3"}[layout]
    turn = "x" if layout == "nchw" else "t"
    first = "" if layout == "nchw" else "t = Transpose <perm = [0, 3, 1, 2]> (x)"
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        net ({dtype}[{shape}] x) => (float[2, 4, 6, 8] y) {{ {first} y = Conv ({turn}, w) }}
    """)
    w = RANDOM.standard_normal((4, 3, 3, 3)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(w, "w"))
    return model


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for number, pixels in enumerate(PIXELS):
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder


def ranges(model: onnx.ModelProto, data: Any, **given: Any) -> dict[str, tuple[float, float]]:
    table = trivium.quantize(model, data, **given)
    return {name: (scale.least, scale.most) for name, scale in table.values.items()}


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_images_are_scaled_shifted_and_laid_out(layout: str, images: Path) -> None:
    model = net(layout)
    wanted = ((PIXELS / 255 - MEAN) / STD).astype(np.float32)
    if layout == "nchw":
        wanted = np.ascontiguousarray(wanted.transpose(0, 3, 1, 2))
    how = Preprocessing(mean=MEAN, std=STD, layout=layout)
    made = ranges(model, images, preprocessing=how)
    for name, bounds in ranges(model, {"x": wanted}).items():
        assert made[name] == pytest.approx(bounds, rel=1e-5)


def test_images_are_resized(images: Path) -> None:
    for path in images.iterdir():
        with Image.open(path) as image:
            image.resize((40, 32), Image.Resampling.NEAREST).save(path)
    found = ranges(net(), images, preprocessing=Preprocessing(resize=(8, 10), scale=1))
    resized: list[Any] = []
    for path in sorted(images.iterdir()):
        with Image.open(path) as image:
            resized.append(np.asarray(image.resize((10, 8), Image.Resampling.BILINEAR)))
    assert found["x"] == (0, np.max(resized))


def test_numbers_are_used_as_they_are(tmp_path: Path) -> None:
    samples = RANDOM.standard_normal((6, 3, 8, 10)).astype(np.float32)
    for number, sample in enumerate(samples):
        np.save(tmp_path / f"{number}.npy", sample)
    model = net()
    assert ranges(model, tmp_path) == ranges(model, {"x": samples})


def test_the_command_line(images: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(model := net(), tmp_path / "net.onnx")
    table = str(tmp_path / "t.json")
    flags = ["--mean", "0.4,0.5,0.6", "--std", "0.2,0.25,0.3", "--layout", "nchw"]
    given = [str(tmp_path / "net.onnx"), "--data", str(images), "--write-table", table]
    assert main(["quantize", *given, *flags]) == 0
    wanted = trivium.quantize(model, images, preprocessing=Preprocessing(mean=MEAN, std=STD))
    assert trivium.quantize(model, table=table) == wanted
    assert main(["quantize", *given, "--resize", "8"]) == 2
    assert "'8' must be like 224x224" in capsys.readouterr().err


def text(folder: Path) -> None:
    (folder / "0.png").write_text("no image")


def other(folder: Path) -> None:
    (folder / "9.txt").write_text("note")


def sizes(folder: Path) -> None:
    Image.fromarray(PIXELS[0][:5]).save(folder / "3.png")


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        (text, {}, "0.png' is no image that Pillow reads"),
        (other, {}, "9.txt' must be an image, as the first file"),
        (sizes, {}, "3.png' has shape 3x5x10, must be 3x8x10: give resize"),
        (None, {"layout": "nhwc"}, "input is 2x3x8x10 of f32, images must be nhwc with 1, 3 or 4"),
        (None, {"mean": (1, 2)}, "mean has 2 numbers, must have 1 or 3"),
        (None, {"std": (0,)}, "std of preprocessing is .*, must be finite numbers other than 0"),
        (None, {"layout": "chw"}, "layout of preprocessing is 'chw', must be nchw or nhwc"),
        (None, {"resize": (0, 3)}, "resize of preprocessing is .*, must be from 1 on"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_line(
    change: Any, given: dict[str, Any], message: str, images: Path
) -> None:
    if change:
        change(images)
    with pytest.raises(trivium.CompileError, match=message) as caught:
        trivium.quantize(net(), images, preprocessing=Preprocessing(**given))
    assert len(str(caught.value).splitlines()) == 1


def test_folders_and_numbers_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(trivium.CompileError, match="is empty, must have 1 sample or more"):
        trivium.quantize(net(), tmp_path)
    np.save(tmp_path / "0.npy", np.zeros((3, 8, 9), np.float32))
    with pytest.raises(trivium.CompileError, match=r"0.npy' has shape 3x8x9, must be 3x8x10$"):
        trivium.quantize(net(), tmp_path)
    with pytest.raises(trivium.CompileError, match=r"preprocessing is for images, .npy files"):
        trivium.quantize(net(), tmp_path, preprocessing=Preprocessing())
    np.save(tmp_path / "0.npy", np.zeros((3, 8, 10)))
    with pytest.raises(trivium.CompileError, match=r"0.npy' is float64, must be float32"):
        trivium.quantize(net(), tmp_path)
    (tmp_path / "0.npy").write_text("no")
    with pytest.raises(trivium.CompileError, match=r"is not a .npy file of numbers"):
        trivium.quantize(net(), tmp_path)
    with pytest.raises(trivium.CompileError, match="preprocessing is for a folder of images"):
        trivium.quantize(net(), {"x": PIXELS}, preprocessing=Preprocessing())
