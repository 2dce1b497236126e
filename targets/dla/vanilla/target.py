"""The target vanilla: only its description and its packets are its own."""

from ..accelerator import Accelerator

TARGET = Accelerator("vanilla")
