"""Mathematical functions that neither the hardware nor the tile dialect has."""
