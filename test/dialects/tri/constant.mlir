// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @constant
// CHECK:         "tri.constant"() {value = dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>}
// CHECK-SAME:      : () -> tensor<2x2xf32>
func.func @constant() -> tensor<2x2xf32> {
  %0 = "tri.constant"() {value = dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>}
      : () -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// Zero dimensions, or none.
// CHECK-LABEL: func.func @scalar
// CHECK:         "tri.constant"() {value = dense<7> : tensor<i64>}
// CHECK-SAME:      : () -> tensor<i64>
func.func @scalar() -> tensor<i64> {
  %0 = "tri.constant"() {value = dense<7> : tensor<i64>} : () -> tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @empty
// CHECK:         "tri.constant"() {value = dense<> : tensor<0x3xf32>}
// CHECK-SAME:      : () -> tensor<0x3xf32>
func.func @empty() -> tensor<0x3xf32> {
  %0 = "tri.constant"() {value = dense<> : tensor<0x3xf32>} : () -> tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

// A weight is a name here; its numbers live beside the IR.
// CHECK-LABEL: func.func @weight
// CHECK:         "tri.weight"() {name = "fc.weight", type = tensor<1000x1000xf16>} : () -> tensor<1000x1000xf16>
func.func @weight() -> tensor<1000x1000xf16> {
  %0 = "tri.weight"() {name = "fc.weight", type = tensor<1000x1000xf16>} : () -> tensor<1000x1000xf16>
  return %0 : tensor<1000x1000xf16>
}
