// RUN: trivium-opt %s --verify-diagnostics

// expected-error @below {{'func.func' op attribute 'trivium.state' is {y = 1 : i64}, must have an input by an output}}
func.func @no_name(%x: tensor<i64>) -> tensor<i64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"], trivium.state = {y = 1}
} {
  return %x : tensor<i64>
}

// expected-error @below {{'func.func' op makes 'y' the input 'x' in 'trivium.state', must be an output and an input of one type, and each input once}}
func.func @another_type(%x: tensor<i64>) -> tensor<i32> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"], trivium.state = {y = "x"}
} {
  %y = "tri.cast"(%x) {to = "i32"} : (tensor<i64>) -> tensor<i32>
  return %y : tensor<i32>
}

// expected-error @below {{'func.func' op makes 'z' the input 'x' in 'trivium.state', must be}}
func.func @no_output(%x: tensor<i64>) -> tensor<i64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"], trivium.state = {z = "x"}
} {
  return %x : tensor<i64>
}

// expected-error @below {{'func.func' op makes 'z' the input 'x' in 'trivium.state', must be}}
func.func @one_input_twice(%x: tensor<i64>) -> (tensor<i64>, tensor<i64>) attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y", "z"], trivium.state = {y = "x", z = "x"}
} {
  return %x, %x : tensor<i64>, tensor<i64>
}

// expected-error @below {{'func.func' op makes 'y' the input 'x' in 'trivium.updates', must be}}
func.func @update_of_what_is_state(%x: tensor<i64>) -> tensor<i64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"], trivium.state = {y = "x"},
  trivium.updates = {y = "x"}
} {
  return %x : tensor<i64>
}

// expected-error @below {{'func.func' op begins 'x' with tensor<2xi64> in 'trivium.initial', must be an input of 'trivium.state' and of its type}}
func.func @begins_with_another_type(%x: tensor<i64>) -> tensor<i64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"], trivium.state = {y = "x"},
  trivium.initial = {x = dense<1> : tensor<2xi64>}
} {
  return %x : tensor<i64>
}
