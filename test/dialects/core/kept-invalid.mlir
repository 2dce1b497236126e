// RUN: trivium-opt %s --verify-diagnostics

// expected-error @below {{'func.func' op attribute 'trivium.kept' must be an array of strings}}
func.func @no_name(%x: tensor<i64>) -> tensor<i64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"], trivium.kept = [1]
} {
  return %x : tensor<i64>
}

// expected-error @below {{'func.func' op keeps 'z' in 'trivium.kept', must be an output, and there once}}
func.func @no_output(%x: tensor<i64>) -> tensor<i64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"], trivium.kept = ["z"]
} {
  return %x : tensor<i64>
}

// expected-error @below {{'func.func' op keeps 'y' in 'trivium.kept', must be an output, and there once}}
func.func @twice(%x: tensor<i64>) -> tensor<i64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"], trivium.kept = ["y", "y"]
} {
  return %x : tensor<i64>
}
