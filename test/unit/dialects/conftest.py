"""Make the examples of ops importable in the folders below: pytest adds the folder of this file."""
