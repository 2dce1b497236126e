// RUN: trivium-opt %s --verify-diagnostics --split-input-file

func.func @sizes_that_are_too_few() -> tensor<2xi64> {
  // expected-error @below {{'tri.sizes' op has 1 values for shape [2]}}
  %0 = "tri.sizes"() {shape = array<i64: 2>, values = array<i64: 3>} : () -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

func.func @sizes_of_a_symbol_that_is_not_declared() -> tensor<1xi64> {
  // expected-error @below {{'tri.sizes' op attribute 'values' is ["N"], must be an array<i64>}}
  %0 = "tri.sizes"() {shape = array<i64: 1>, values = ["N"]} : () -> tensor<1xi64>
  return %0 : tensor<1xi64>
}

// -----

func.func @iota_of_fewer_than_no_numbers() -> tensor<0xi64> {
  // expected-error @below {{'tri.iota' op has size -1, must be at least 0}}
  %0 = "tri.iota"() {size = -1 : i64} : () -> tensor<0xi64>
  return %0 : tensor<0xi64>
}

// -----

// The size is the result's.
func.func @iota_of_another_size(%x: tensor<?xf32, ["N"]>) -> tensor<4xi64> attributes {trivium.symbols = {N = "1.."}} {
  // expected-error @below {{'tri.iota' op result is tensor<4xi64>, inferred tensor<?xi64, ["N"]>}}
  %0 = "tri.iota"() {size = "N"} : () -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
