"""What operators of torch mean: rules for the frontends that read PNNX files and exported programs.

A rule is a function whose signature is the schema of an operator: `registry.py`, the place to start
reading. `rules` has them by family. Nothing here imports torch. Imported by the frontends `pnnx`
and `exported`.
"""
