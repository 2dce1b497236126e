// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @reduce_sum
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_sum"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
func.func @reduce_sum(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "tri.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @reduce_prod
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_prod"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
func.func @reduce_prod(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "tri.reduce_prod"(%x) {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @reduce_mean
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_mean"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
func.func @reduce_mean(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "tri.reduce_mean"(%x) {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @reduce_max
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_max"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
func.func @reduce_max(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "tri.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @reduce_min
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_min"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
func.func @reduce_min(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "tri.reduce_min"(%x) {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @reduce_l1
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_l1"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
func.func @reduce_l1(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "tri.reduce_l1"(%x) {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @reduce_l2
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_l2"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
func.func @reduce_l2(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "tri.reduce_l2"(%x) {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @reduce_sum_square
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_sum_square"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
func.func @reduce_sum_square(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "tri.reduce_sum_square"(%x) {axes = array<i64: 1>}
      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @reduce_log_sum
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_log_sum"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
func.func @reduce_log_sum(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "tri.reduce_log_sum"(%x) {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @reduce_log_sum_exp
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_log_sum_exp"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
func.func @reduce_log_sum_exp(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "tri.reduce_log_sum_exp"(%x) {axes = array<i64: 1>}
      : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// Reduced axes may go.
// CHECK-LABEL: func.func @drops_axes
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_sum"(%[[X]]) {axes = array<i64: 0, 2>, keepdims = false}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<3xf32>
func.func @drops_axes(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %0 = "tri.reduce_sum"(%x) {axes = array<i64: 0, 2>, keepdims = false}
      : (tensor<2x3x4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// All of them leave a scalar.
// CHECK-LABEL: func.func @reduces_all
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_max"(%[[X]]) {axes = array<i64: 0, 1>, keepdims = false}
// CHECK-SAME:      : (tensor<2x3xi32>) -> tensor<i32>
func.func @reduces_all(%x: tensor<2x3xi32>) -> tensor<i32> {
  %0 = "tri.reduce_max"(%x) {axes = array<i64: 0, 1>, keepdims = false}
      : (tensor<2x3xi32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// None leave everything.
// CHECK-LABEL: func.func @reduces_none
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reduce_mean"(%[[X]]) {axes = array<i64>}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @reduces_none(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.reduce_mean"(%x) {axes = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
