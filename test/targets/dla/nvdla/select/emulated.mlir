// RUN: trivium-opt %s '--select-nvdla=target=nv_full of=f16' | FileCheck %s
// RUN: trivium-opt %s '--select-nvdla=target=nv_small of=f16' | FileCheck %s --check-prefix=SMALL

// Rows are images of one pixel.
// CHECK-LABEL: func.func @rows
// CHECK:         %[[X:.*]] = "tri.reshape"({{.*}}) -> tensor<3x5x1x1xf16>
// CHECK:         "nvdla.softmax"(%[[X]]) : (tensor<3x5x1x1xf16>) -> tensor<3x5x1x1xf16>
// CHECK-NOT:     tri.softmax
// SMALL-LABEL: func.func @rows
// SMALL:         tri.softmax
func.func @rows(%x: tensor<3x5xf16>) -> tensor<3x5xf16> {
  %y = "tri.softmax"(%x) {axis = -1 : i64} : (tensor<3x5xf16>) -> tensor<3x5xf16>
  return %y : tensor<3x5xf16>
}

// CHECK-LABEL: func.func @keeps_softmax_of_several_pixels
// CHECK:         tri.softmax
func.func @keeps_softmax_of_several_pixels(%x: tensor<1x5x2x1xf16>) -> tensor<1x5x2x1xf16> {
  %y = "tri.softmax"(%x) {axis = 1 : i64} : (tensor<1x5x2x1xf16>) -> tensor<1x5x2x1xf16>
  return %y : tensor<1x5x2x1xf16>
}

// CHECK-LABEL: func.func @keeps_softmax_over_images
// CHECK:         tri.softmax
func.func @keeps_softmax_over_images(%x: tensor<3x5xf16>) -> tensor<3x5xf16> {
  %y = "tri.softmax"(%x) {axis = 0 : i64} : (tensor<3x5xf16>) -> tensor<3x5xf16>
  return %y : tensor<3x5xf16>
}

// CHECK-LABEL: func.func @keeps_softmax_of_32_bits
// CHECK:         tri.softmax
func.func @keeps_softmax_of_32_bits(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = "tri.softmax"(%x) {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @powers
// CHECK:         "nvdla.power"(%{{.*}}) {power = 5.000000e-01 : f64
// CHECK:         "nvdla.power"(%{{.*}}) {power = 3.000000e+00 : f64
func.func @powers(%x: tensor<1x5x2x1xf16>) -> tensor<1x5x2x1xf16> {
  %e = "tri.constant"() {value = dense<3.0> : tensor<f16>} : () -> tensor<f16>
  %a = "tri.sqrt"(%x) : (tensor<1x5x2x1xf16>) -> tensor<1x5x2x1xf16>
  %y = "tri.pow"(%a, %e) : (tensor<1x5x2x1xf16>, tensor<f16>) -> tensor<1x5x2x1xf16>
  return %y : tensor<1x5x2x1xf16>
}

// CHECK-LABEL: func.func @keeps_powers_with_exponents_of_elements
// CHECK:         tri.pow
func.func @keeps_powers_with_exponents_of_elements(%x: tensor<1x5x2x1xf16>, %e: tensor<1x5x2x1xf16>) -> tensor<1x5x2x1xf16> {
  %y = "tri.pow"(%x, %e) : (tensor<1x5x2x1xf16>, tensor<1x5x2x1xf16>) -> tensor<1x5x2x1xf16>
  return %y : tensor<1x5x2x1xf16>
}
