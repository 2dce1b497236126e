"""Cases of the ops that the CPU lowers."""

from drawn import Cases
from examples_cpu import CPU
from examples_math import MATH
from examples_moves import MOVES
from examples_networks import NETWORKS
from examples_nn import NN
from examples_selection import SELECTION
from trivium.targets.cpu import TARGET

CASES = Cases(TARGET, MATH | MOVES | NETWORKS | SELECTION | CPU | NN, NETWORKS | CPU | NN)
