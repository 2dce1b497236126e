"""Accelerators that a description, a set of packets and explicit loads and stores program."""
