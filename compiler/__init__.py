"""Who puts it together: frontends, and the driver from a model to a session."""
