// RUN: trivium-opt %s --use-tf32 | FileCheck %s

// CHECK-LABEL: func.func @rounds_factors
// CHECK:         "tile.dot"(%{{.*}}) {precision = "tf32"} : (tensor<16x32xf32>
func.func @rounds_factors(%a: tensor<16x32xf32>, %b: tensor<32x16xf32>, %c: tensor<16x16xf32>) {
  %0 = "tile.dot"(%a, %b, %c) {precision = "ieee"} : (tensor<16x32xf32>, tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return
}

// Factors in half precision are multiplied as they are.
// CHECK-LABEL: func.func @keeps_halves
// CHECK:         "tile.dot"(%{{.*}}) {precision = "ieee"} : (tensor<16x32xf16>
func.func @keeps_halves(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) {
  %0 = "tile.dot"(%a, %b, %c) {precision = "ieee"} : (tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return
}

// Who asks for f64 needs its digits.
// CHECK-LABEL: func.func @keeps_doubles
// CHECK:         "tile.dot"(%{{.*}}) {precision = "ieee"} : (tensor<16x32xf64>
func.func @keeps_doubles(%a: tensor<16x32xf64>, %b: tensor<32x16xf64>, %c: tensor<16x16xf64>) {
  %0 = "tile.dot"(%a, %b, %c) {precision = "ieee"} : (tensor<16x32xf64>, tensor<32x16xf64>, tensor<16x16xf64>) -> tensor<16x16xf64>
  return
}
