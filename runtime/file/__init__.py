"""The file of a package: its archive, how it is read and replaced, checksums and signatures.

The package and tools that write files import it; it imports errors and memory of the runtime alone.
Start with `archive.py`.
"""
