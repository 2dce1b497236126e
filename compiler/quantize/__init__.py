"""Post-training quantisation: run a model on data, choose scales, round values and weights.

`trivium.quantize`, `trivium.quantize_weights` and the command line import it; it imports the
driver. Start reading at `driver.py`; `weights.py` quantises weights alone.
"""

from ...passes.quantize.quant_config import QuantConfig as QuantConfig
from ...passes.quantize.scale_table import ScaleTable as ScaleTable
from .closeness import Closeness as Closeness
from .driver import quantize as quantize
from .folder import Preprocessing as Preprocessing
from .observe import Spread as Spread
from .report import Report as Report
from .report import Sensitivity as Sensitivity
from .weights import ProductError as ProductError
from .weights import WeightReport as WeightReport
from .weights import quantize_weights as quantize_weights
