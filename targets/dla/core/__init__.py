"""What every accelerator of this kind shares: description, packets, container, simulator, linter.

Nothing here needs MLIR: whoever builds hardware can take these files, numpy and a TOML file.
"""
