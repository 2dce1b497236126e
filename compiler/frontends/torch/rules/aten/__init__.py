"""Rules for overloads of ATen, which differ from the functions that users call.

`general.py` has those that PNNX leaves in its files, too, where their arguments have no names: the
signatures have them in the order of torch's schema. `rules/__init__.py` imports the modules. Start
with `elementwise.py`.
"""
