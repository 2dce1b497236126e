"""Make one token after the other by the package of a decoder: `trivium.Generator`.

Start reading at `generator.py`, then `sequence.py` (one text), `decoder.py` (the one place that
runs the package) and `sampling.py` (which token comes next).
"""
