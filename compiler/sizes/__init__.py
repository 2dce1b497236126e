"""Free sizes of a model: their names, those that were observed, reports, and who refuses them."""
