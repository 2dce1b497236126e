"""The loadable as a file: tables, descriptors of tasks, their text. Start with `loadable.py`."""
