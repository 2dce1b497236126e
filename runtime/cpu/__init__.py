"""Native code for CPUs: its part of a manifest, its steps, the linker, and the threads.

Imported when a package has steps of kind `cpu`; it imports the rest of the runtime. Start at
`step.py`.
"""
