"""Cases of the ops that the GPU lowers."""

from drawn import Cases
from examples_math import MATH
from examples_moves import MOVES
from examples_networks import NETWORKS
from examples_nn import NN
from examples_selection import SELECTION
from trivium.targets.gpu import TARGET

CASES = Cases(TARGET, MATH | MOVES | NETWORKS | SELECTION | NN, NETWORKS | NN)
