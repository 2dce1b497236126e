"""Mathematical functions that the vector units lack."""
