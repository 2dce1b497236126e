"""Vanilla: an accelerator for networks of 8-bit integers, made to be copied."""
