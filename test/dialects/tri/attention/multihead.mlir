// RUN: trivium-opt %s | FileCheck %s

// One weight for queries, keys and values, which are one tensor.
// CHECK-LABEL: func.func @attends_to_itself
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[OUT:.*]]: {{.*}})
// CHECK:         "tri.multihead_attention"(%[[X]], %[[X]], %[[X]], %[[W]], %[[OUT]]) {batch_first = true, heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>}
// CHECK-SAME:      : (tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>) -> (tensor<1x5x4xf32>, tensor<1x5x5xf32>)
func.func @attends_to_itself(%x: tensor<1x5x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>) -> tensor<1x5x4xf32> {
  %0:2 = "tri.multihead_attention"(%x, %x, %x, %w, %out) {batch_first = true, heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>}
      : (tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>) -> (tensor<1x5x4xf32>, tensor<1x5x5xf32>)
  return %0#0 : tensor<1x5x4xf32>
}

// Three weights, biases, a key and a value that were learned, one of zeros, and a mask.
// CHECK-LABEL: func.func @everything
// CHECK:         "tri.multihead_attention"({{.*}}) {add_zero = true, heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 3, 1, 1, 1, 1, 1, 1>}
// CHECK-SAME:      -> (tensor<5x1x4xf32>, tensor<1x5x9xf32>)
func.func @everything(%q: tensor<5x1x4xf32>, %k: tensor<7x1x3xf32>, %v: tensor<7x1x2xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x3xf32>, %wv: tensor<4x2xf32>, %b: tensor<12xf32>, %row: tensor<1x1x4xf32>, %out_b: tensor<4xf32>, %mask: tensor<5x7xi1>) -> tensor<5x1x4xf32> {
  %0:2 = "tri.multihead_attention"(%q, %k, %v, %wq, %wk, %wv, %wq, %b, %out_b, %row, %row, %mask) {add_zero = true, heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 3, 1, 1, 1, 1, 1, 1>}
      : (tensor<5x1x4xf32>, tensor<7x1x3xf32>, tensor<7x1x2xf32>, tensor<4x4xf32>, tensor<4x3xf32>, tensor<4x2xf32>, tensor<4x4xf32>, tensor<12xf32>, tensor<4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<5x7xi1>) -> (tensor<5x1x4xf32>, tensor<1x5x9xf32>)
  return %0#0 : tensor<5x1x4xf32>
}
