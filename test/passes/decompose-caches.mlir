// RUN: trivium-opt %s --decompose='ops=cached_attention,tensor_scatter' | FileCheck %s

// Rows in use are a part of the cache; a mask shows each query its own.
// CHECK-LABEL: func.func @attends
// CHECK-SAME:    (%[[Q:.*]]: {{.*}}, %[[K:.*]]: {{.*}}, %[[V:.*]]: {{.*}}, %[[STARTS:.*]]: {{.*}})
// CHECK-DAG:     %[[KEYS:.*]] = "tri.slice"(%[[K]]) {sizes = array<i64: 2, 2, 40, 8>
// CHECK-DAG:     %[[VALUES:.*]] = "tri.slice"(%[[V]]) {sizes = array<i64: 2, 2, 40, 3>
// CHECK-DAG:     "tri.iota"() {size = 40 : i64}
// CHECK:         %[[SEEN:.*]] = "tri.and"({{.*}}) : (tensor<2x1x5x40xi1>, tensor<2x1x5x40xi1>)
// CHECK:         "tri.attention"(%[[Q]], %[[KEYS]], %[[VALUES]], %[[SEEN]])
func.func @attends(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x64x8xf32>, %v: tensor<2x2x64x3xf32>, %starts: tensor<2xi64>) -> tensor<2x4x5x3xf32> {
  %0 = "tri.cached_attention"(%q, %k, %v, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = 40, scale = 0.5, window = 16}
      : (tensor<2x4x5x8xf32>, tensor<2x2x64x8xf32>, tensor<2x2x64x3xf32>, tensor<2xi64>) -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}

// Each row is that of x or an update.
// CHECK-LABEL: func.func @scatters
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[NEW:.*]]: {{.*}}, %[[STARTS:.*]]: {{.*}}, %[[COUNTS:.*]]: {{.*}})
// CHECK:         %[[TAKEN:.*]] = "tri.gather_elements"(%[[NEW]], %{{.*}}) {axis = 1 : i64}
// CHECK:         "tri.where"(%{{.*}}, %[[TAKEN]], %[[X]])
func.func @scatters(%x: tensor<2x8x4xf32>, %new: tensor<2x3x4xf32>, %starts: tensor<2xi64>, %counts: tensor<2xi64>) -> tensor<2x8x4xf32> {
  %0 = "tri.tensor_scatter"(%x, %new, %starts, %counts) {axis = 1, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 1>}
      : (tensor<2x8x4xf32>, tensor<2x3x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

// Bytes are multiplied by the scales of their rows.
// CHECK-LABEL: func.func @attends_to_bytes
// CHECK-SAME:    (%[[Q:.*]]: {{.*}}, %[[K:.*]]: {{.*}}, %[[STARTS:.*]]: {{.*}}, %[[SCALES:.*]]: {{.*}})
// CHECK:         %[[ROWS:.*]] = "tri.slice"(%[[K]]) {sizes = array<i64: 2, 2, 40, 8>
// CHECK:         %[[FACTORS:.*]] = "tri.slice"(%[[SCALES]]) {sizes = array<i64: 2, 2, 40>
// CHECK:         %[[WIDE:.*]] = "tri.cast"(%[[ROWS]])
// CHECK:         %[[COLUMN:.*]] = "tri.reshape"(%[[FACTORS]]) {shape = array<i64: 2, 2, 40, 1>}
// CHECK:         %[[KEYS:.*]] = "tri.mul"(%[[WIDE]], %[[COLUMN]])
// CHECK:         "tri.attention"(%[[Q]], %[[KEYS]],
func.func @attends_to_bytes(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x64x8xi8>, %starts: tensor<2xi64>, %scales: tensor<2x2x64xf32>) -> tensor<2x4x5x8xf32> {
  %0 = "tri.cached_attention"(%q, %k, %k, %starts, %scales, %scales) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>, rows = 40, scale = 0.5}
      : (tensor<2x4x5x8xf32>, tensor<2x2x64x8xi8>, tensor<2x2x64x8xi8>, tensor<2xi64>, tensor<2x2x64xf32>, tensor<2x2x64xf32>) -> tensor<2x4x5x8xf32>
  return %0 : tensor<2x4x5x8xf32>
}
