"""Lowerings of attention: to given keys and values, to a cache, and linear attention."""
