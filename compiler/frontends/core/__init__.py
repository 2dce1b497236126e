"""What all frontends share: inputs and their bindings, the function that a model is, values."""
