// RUN: trivium-opt %s --verify-diagnostics

// Functions of analysis are for floats.
func.func @square_root_of_integers(%x: tensor<2xi32>) {
  // expected-error @below {{'tri.sqrt' op element type is i32, must be a float}}
  %y = "tri.sqrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// So are angles.
func.func @angle_of_integers(%a: tensor<2xi32>, %b: tensor<2xi32>) {
  // expected-error @below {{'tri.atan2' op element type is i32, must be a float}}
  %y = "tri.atan2"(%a, %b) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}

// Logic is for bools.
func.func @not_of_floats(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.not' op element type is f32, must be i1}}
  %y = "tri.not"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// Bits are those of integers.
func.func @bits_of_floats(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.bitwise_not' op element type is f32, must be an integer}}
  %y = "tri.bitwise_not"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// Arithmetic is for numbers.
func.func @sum_of_bools(%a: tensor<2xi1>, %b: tensor<2xi1>) {
  // expected-error @below {{'tri.add' op element type is i1, must be a number}}
  %y = "tri.add"(%a, %b) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// So is order.
func.func @order_of_bools(%a: tensor<2xi1>, %b: tensor<2xi1>) {
  // expected-error @below {{'tri.less' op element type is i1, must be a number}}
  %y = "tri.less"(%a, %b) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// Only floats can be NaN.
func.func @nan_of_integers(%x: tensor<2xi32>) {
  // expected-error @below {{'tri.is_nan' op element type is i32, must be a float}}
  %y = "tri.is_nan"(%x) : (tensor<2xi32>) -> tensor<2xi1>
  return
}

// `where` takes a condition.
func.func @chooses_by_a_number(%condition: tensor<2xi32>, %a: tensor<2xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{'tri.where' op condition has element type i32, must be i1}}
  %y = "tri.where"(%condition, %a, %b)
      : (tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// Types are spelt as MLIR does.
func.func @casts_to_a_word(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.cast' op casts to 'int32', must be one of f64, f32,}}
  %y = "tri.cast"(%x) {to = "int32"} : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// For bits as for values.
func.func @bit_casts_to_a_word(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.bit_cast' op casts to 'int32', must be one of f64, f32,}}
  %y = "tri.bit_cast"(%x) {to = "int32"} : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// Bits stay as many as they are.
func.func @bit_casts_to_another_width(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.bit_cast' op casts 32 bits to 64, must be equal}}
  %y = "tri.bit_cast"(%x) {to = "i64"} : (tensor<2xf32>) -> tensor<2xi64>
  return
}
