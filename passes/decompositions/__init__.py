"""The rules that say an op of `tri` in simpler ops, by theme. `Decompose` applies them."""
