"""The target vanilla: nothing about it is special but its description and its packets."""

from ..accelerator import Accelerator

TARGET = Accelerator("vanilla")
