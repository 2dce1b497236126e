"""Write the PNNX models that the tests of `trivium` use into a folder."""

import sys
from pathlib import Path

import numpy as np
from trivium.compiler.frontends.pnnx import Attribute, Graph, Parameter, write_pnnx

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)

graph = Graph()
x, y = graph.add_operand("0"), graph.add_operand("1")
x.dtype, x.shape = "f32", ("N", 3)
graph.add_operator("pnnx.Input", "pnnx_input_0").add_output(x)
layer = graph.add_operator("nn.Linear", "layer")
layer.add_input(x)
layer.add_output(y)
layer.parameters["bias"] = Parameter.of(False)
layer.attributes["weight"] = Attribute.of(np.arange(6, dtype=np.float32).reshape(2, 3))
graph.add_operator("pnnx.Output", "pnnx_output_0").add_input(y)
write_pnnx(graph, folder / "layer.pnnx.param", folder / "layer.pnnx.bin")

layer.type = "nn.Liner"
write_pnnx(graph, folder / "strange.pnnx.param", folder / "strange.pnnx.bin")
np.save(folder / "x.npy", np.ones((2, 3), np.float32))
