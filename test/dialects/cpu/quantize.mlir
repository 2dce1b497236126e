// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @quantize
// CHECK:         "cpu.quantize"(%{{.*}}) {high = 127 : i64, low = -128 : i64, to = "i8", zero = -5 : i64} : (tensor<2x3xf32>) -> tensor<2x3xi8>
func.func @quantize(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %0 = "cpu.quantize"(%x) {high = 127, low = -128, to = "i8", zero = -5} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
