"""Measure packages on a GPU beside PyTorch: `python -m trivium.tools.bench.gpu`."""
