"""The accelerator acme, which Trivium finds by the entry point `acme`."""
