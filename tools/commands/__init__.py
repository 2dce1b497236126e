"""The commands of `trivium`, one module each: `add_arguments`, `run`, and a docstring to show."""
