"""What all accelerators of this family share: description, packets, container, simulator, linter.

Nothing here needs the bindings of MLIR: a hardware project can use these files with numpy and a
TOML file. Start at `description.py`, then `packet.py` and `tile_packet.py`.
"""
