// RUN: trivium-opt %s --verify-diagnostics

func.func @no_memory(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.copy' op names no memory to copy to}}
  %0 = "tri.copy"(%x) {to = ""} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// A copy is of the same type.
func.func @another_type(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.copy' op result is tensor<2xf16>, inferred tensor<2xf32>}}
  %0 = "tri.copy"(%x) {to = "gpu"} : (tensor<2xf32>) -> tensor<2xf16>
  return
}

func.func @another_order(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.copy' op makes tensor<2x3xf32, [1, 0]> of tensor<2x3xf32>, must keep the order of axes}}
  %0 = "tri.copy"(%x) {to = "gpu"} : (tensor<2x3xf32>) -> tensor<2x3xf32, [1, 0]>
  return
}
