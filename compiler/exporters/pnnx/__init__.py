"""The PNNX exporter: ops of `tri` as torch's modules and functions.

`compiler/formats` imports it, on first use. Start reading at `exporter.py`; `rules` has a
function for each op.
"""

from .exporter import export_pnnx as export_pnnx
from .exporter import save_pnnx as save_pnnx
