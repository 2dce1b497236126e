"""Out again: a `tri` module as a file of a format that other tools read."""
