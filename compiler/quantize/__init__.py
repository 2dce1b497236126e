"""Post-training quantisation: run a model on data, choose scales, round values and weights.

`trivium.quantize` and the command line import it; it imports the driver. Start reading at
`driver.py`.
"""

from .closeness import Closeness as Closeness
from .driver import quantize as quantize
from .report import Report as Report
from .report import Sensitivity as Sensitivity
