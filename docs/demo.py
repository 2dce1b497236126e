"""Compile a small convolutional network for this computer, save it, load it and run it.

python docs/demo.py
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import onnx.reference
import trivium


def network() -> onnx.ModelProto:
    """Write a network with random weights as an exporter would: 3x64x64 images to 10 classes."""
    random = np.random.default_rng(0)
    weights = {
        "stem_weight": random.normal(0, 0.2, (16, 3, 3, 3)),
        "norm_weight": random.uniform(0.5, 1.5, 16),
        "norm_bias": random.normal(0, 0.1, 16),
        "norm_mean": random.normal(0, 0.1, 16),
        "norm_var": random.uniform(0.5, 1.5, 16),
        "fc_weight": random.normal(0, 0.5, (10, 16)),
        "fc_bias": random.normal(0, 0.1, 10),
    }
    text = """
    <ir_version: 10, opset_import: ["" : 21]>
    demo (float[1, 3, 64, 64] image) => (float[1, 10] probabilities) {
        stem = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (image, stem_weight)
        norm = BatchNormalization (stem, norm_weight, norm_bias, norm_mean, norm_var)
        relu = Relu (norm)
        pool = GlobalAveragePool (relu)
        features = Flatten (pool)
        logits = Gemm <transB = 1> (features, fc_weight, fc_bias)
        probabilities = Softmax (logits)
    }
    """
    model = onnx.parser.parse_model(text)
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(array.astype(np.float32), name)
        for name, array in weights.items()
    )
    return model


def main() -> None:
    """Print what each step did, how long it took, and that the result is right."""
    model = network()
    start = time.perf_counter()
    session = trivium.compile(model, target="cpu")
    print(f"compiled in {time.perf_counter() - start:.2f} s")

    image = np.random.default_rng(1).normal(size=(1, 3, 64, 64)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.trv"
        session.save(path)
        start = time.perf_counter()
        loaded = trivium.load(path)
        result = loaded.run({"image": image})["probabilities"]
        milliseconds = (time.perf_counter() - start) * 1000
        print(
            f"saved {path.stat().st_size / 1024:.0f} KiB, loaded and ran in {milliseconds:.1f} ms"
        )

    (expected,) = onnx.reference.ReferenceEvaluator(model).run(None, {"image": image})
    print(f"class {result.argmax()} with probability {result.max():.4f}")
    print(f"largest difference from ONNX's reference: {np.abs(result - expected).max():.0e}")


if __name__ == "__main__":
    main()
