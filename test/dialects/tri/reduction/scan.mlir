// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @arg_max
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.arg_max"(%[[X]])
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<1x3xi64>
func.func @arg_max(%x: tensor<2x3xf32>) -> tensor<1x3xi64> {
  %0 = "tri.arg_max"(%x) : (tensor<2x3xf32>) -> tensor<1x3xi64>
  return %0 : tensor<1x3xi64>
}

// CHECK-LABEL: func.func @arg_min
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.arg_min"(%[[X]]) {axis = 1 : i64, keepdims = false, select_last_index = true}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2xi64>
func.func @arg_min(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %0 = "tri.arg_min"(%x) {axis = 1 : i64, keepdims = false, select_last_index = true}
      : (tensor<2x3xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @cum_sum
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.cum_sum"(%[[X]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<2x3xi32>) -> tensor<2x3xi32>
func.func @cum_sum(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %0 = "tri.cum_sum"(%x) {axis = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @cum_prod
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.cum_prod"(%[[X]]) {axis = -1 : i64, exclusive = true, reverse = true}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @cum_prod(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.cum_prod"(%x) {axis = -1 : i64, exclusive = true, reverse = true}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @top_k
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.top_k"(%[[X]]) {k = 3 : i64}
// CHECK-SAME:      : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
func.func @top_k(%x: tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  %0:2 = "tri.top_k"(%x) {k = 3 : i64} : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi64>
}

// CHECK-LABEL: func.func @smallest
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.top_k"(%[[X]]) {axis = 0 : i64, k = 1 : i64, largest = false, sorted = false}
// CHECK-SAME:      : (tensor<2x5xf32>) -> (tensor<1x5xf32>, tensor<1x5xi64>)
func.func @smallest(%x: tensor<2x5xf32>) -> (tensor<1x5xf32>, tensor<1x5xi64>) {
  %0:2 = "tri.top_k"(%x) {axis = 0 : i64, k = 1 : i64, largest = false, sorted = false}
      : (tensor<2x5xf32>) -> (tensor<1x5xf32>, tensor<1x5xi64>)
  return %0#0, %0#1 : tensor<1x5xf32>, tensor<1x5xi64>
}
