"""Make one token after the other by the package of a decoder.

`trivium.Generator` is in `generator.py`. Start reading there, then `sequence.py` (one text),
`step.py` (the one place that runs the package) and `sampling.py` (which token comes next).
"""
