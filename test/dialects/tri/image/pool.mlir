// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @max_pool
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.max_pool"(%[[X]]) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 3>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x4x8x9xf32>) -> tensor<1x4x7x7xf32>
func.func @max_pool(%x: tensor<1x4x8x9xf32>) -> tensor<1x4x7x7xf32> {
  %0 = "tri.max_pool"(%x) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 3>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x9xf32>) -> tensor<1x4x7x7xf32>
  return %0 : tensor<1x4x7x7xf32>
}

// Windows that hang over the end count with `ceil_mode`: 1 + ceil((8 - 3) / 2) and 1 + ceil((9 - 5) / 3).
// CHECK-LABEL: func.func @hanging_over
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.max_pool"(%[[X]]) {ceil_mode = true, dilations = array<i64: 1, 2>, kernel = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 3>}
// CHECK-SAME:      : (tensor<1x4x8x9xi8>) -> tensor<1x4x4x3xi8>
func.func @hanging_over(%x: tensor<1x4x8x9xi8>) -> tensor<1x4x4x3xi8> {
  %0 = "tri.max_pool"(%x) {ceil_mode = true, dilations = array<i64: 1, 2>, kernel = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 3>}
      : (tensor<1x4x8x9xi8>) -> tensor<1x4x4x3xi8>
  return %0 : tensor<1x4x4x3xi8>
}

// CHECK-LABEL: func.func @max_pool_indices
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.max_pool_indices"(%[[X]]) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 3>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x4x8x9xf32>) -> (tensor<1x4x7x7xf32>, tensor<1x4x7x7xi64>)
func.func @max_pool_indices(%x: tensor<1x4x8x9xf32>) -> (tensor<1x4x7x7xf32>, tensor<1x4x7x7xi64>) {
  %0:2 = "tri.max_pool_indices"(%x) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 3>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x9xf32>) -> (tensor<1x4x7x7xf32>, tensor<1x4x7x7xi64>)
  return %0#0, %0#1 : tensor<1x4x7x7xf32>, tensor<1x4x7x7xi64>
}

// CHECK-LABEL: func.func @column_major_indices
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.max_pool_indices"(%[[X]]) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 3>, pads = array<i64: 0, 0, 0, 0>, storage_order = 1 : i64, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x4x8x9xf32>) -> (tensor<1x4x7x7xf32>, tensor<1x4x7x7xi64>)
func.func @column_major_indices(%x: tensor<1x4x8x9xf32>) -> (tensor<1x4x7x7xf32>, tensor<1x4x7x7xi64>) {
  %0:2 = "tri.max_pool_indices"(%x) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 3>, pads = array<i64: 0, 0, 0, 0>, storage_order = 1 : i64, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x9xf32>) -> (tensor<1x4x7x7xf32>, tensor<1x4x7x7xi64>)
  return %0#0, %0#1 : tensor<1x4x7x7xf32>, tensor<1x4x7x7xi64>
}

// CHECK-LABEL: func.func @average_pool
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.average_pool"(%[[X]]) {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
// CHECK-SAME:      : (tensor<1x4x8xf32>) -> tensor<1x4x4xf32>
func.func @average_pool(%x: tensor<1x4x8xf32>) -> tensor<1x4x4xf32> {
  %0 = "tri.average_pool"(%x) {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
      : (tensor<1x4x8xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// CHECK-LABEL: func.func @counting_pads
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.average_pool"(%[[X]]) {count_include_pad = true, dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 1, 1>, strides = array<i64: 2>}
// CHECK-SAME:      : (tensor<1x4x8xf32>) -> tensor<1x4x5xf32>
func.func @counting_pads(%x: tensor<1x4x8xf32>) -> tensor<1x4x5xf32> {
  %0 = "tri.average_pool"(%x) {count_include_pad = true, dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 1, 1>, strides = array<i64: 2>}
      : (tensor<1x4x8xf32>) -> tensor<1x4x5xf32>
  return %0 : tensor<1x4x5xf32>
}

// CHECK-LABEL: func.func @lp_pool
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.lp_pool"(%[[X]]) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 3>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x4x8x9xf32>) -> tensor<1x4x7x7xf32>
func.func @lp_pool(%x: tensor<1x4x8x9xf32>) -> tensor<1x4x7x7xf32> {
  %0 = "tri.lp_pool"(%x) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 3>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x9xf32>) -> tensor<1x4x7x7xf32>
  return %0 : tensor<1x4x7x7xf32>
}

// CHECK-LABEL: func.func @sum_of_cubes
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.lp_pool"(%[[X]]) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 3>, p = 3 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x4x8x9xf32>) -> tensor<1x4x7x7xf32>
func.func @sum_of_cubes(%x: tensor<1x4x8x9xf32>) -> tensor<1x4x7x7xf32> {
  %0 = "tri.lp_pool"(%x) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 3>, p = 3 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x9xf32>) -> tensor<1x4x7x7xf32>
  return %0 : tensor<1x4x7x7xf32>
}
