// RUN: trivium-opt %s --verify-diagnostics

// Each input and output has a name, if there are names.
// expected-error @below {{'func.func' op names 1 inputs in 'trivium.inputs', has 2}}
func.func @lacks_a_name(%x: tensor<2xf32>, %y: tensor<2xf32>)
    attributes {trivium.inputs = ["x"]} {
  return
}

// expected-error @below {{'func.func' op attribute 'trivium.outputs' must be an array of strings}}
func.func @names_by_number(%x: tensor<2xf32>) -> tensor<2xf32> attributes {trivium.outputs = [1]} {
  return %x : tensor<2xf32>
}

// MLIR takes any op that it does not know for the end of a block.
// expected-error @below {{'func.func' op ends in 'tri.relu', must end in 'func.return'}}
"func.func"() ({
^bb0(%x: tensor<2xf32>):
  %y = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
}) {sym_name = "lacks_its_end", function_type = (tensor<2xf32>) -> ()} : () -> ()
