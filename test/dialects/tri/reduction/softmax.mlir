// RUN: trivium-opt %s | FileCheck %s

// The last axis, unless said.
// CHECK-LABEL: func.func @over_the_last_axis
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.softmax"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.log_softmax"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.hardmax"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @over_the_last_axis(%x: tensor<2x3xf32>) {
  %0 = "tri.softmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "tri.log_softmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "tri.hardmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @softmax
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.softmax"(%[[X]]) {axis = 0 : i64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.softmax"(%x) {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @log_softmax
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.log_softmax"(%[[X]]) {axis = 0 : i64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log_softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.log_softmax"(%x) {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @hardmax
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.hardmax"(%[[X]]) {axis = 0 : i64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @hardmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.hardmax"(%x) {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
