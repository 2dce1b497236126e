"""Accelerators (DLAs) that a description, a set of packets, and explicit loads and stores program.

Accelerators of this family derive from `accelerator.Accelerator`; `vanilla` is the first one. Start
reading at `pipeline.py`: it lists the passes of the five phases, which have a folder each.
"""
