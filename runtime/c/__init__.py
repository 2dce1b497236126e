"""libtrivium: run packages from C, with no library but libc; `trivium runtime` writes its sources.

It opens what has native code alone and sizes that do not change, and refuses the rest by name.
Start reading at `trivium.h`, which is all that a caller knows, then at `package.c`.
"""
