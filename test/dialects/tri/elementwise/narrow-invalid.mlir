// RUN: trivium-opt %s --verify-diagnostics

func.func @adds(%x: tensor<2xf8E4M3FN>) {
  // expected-error @below {{'tri.add' op element type is f8E4M3FN, must be one to compute with: cast it}}
  %y = "tri.add"(%x, %x) : (tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN>
  return
}

func.func @compares(%x: tensor<2xi4>) {
  // expected-error @below {{'tri.equal' op element type is i4, must be one to compute with: cast it}}
  %y = "tri.equal"(%x, %x) : (tensor<2xi4>, tensor<2xi4>) -> tensor<2xi1>
  return
}

func.func @rounds(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.power_of_two' op round_mode is 'even', must be one of}}
  %y = "tri.power_of_two"(%x) {saturate = true, round_mode = "even"}
      : (tensor<2xf32>) -> tensor<2xf8E8M0FNU>
  return
}

func.func @casts_to_powers(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.cast' op casts to f8E8M0FNU, which 'tri.power_of_two' does}}
  %y = "tri.cast"(%x) {to = "f8E8M0FNU", saturate = true} : (tensor<2xf32>) -> tensor<2xf8E8M0FNU>
  return
}
