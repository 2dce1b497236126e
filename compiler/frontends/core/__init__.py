"""Building blocks of all frontends: inputs and their bindings, values, the function of a model.

Only frontends import it; it knows none of them. Start reading at `results.py`.
"""
