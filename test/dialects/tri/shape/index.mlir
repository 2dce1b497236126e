// RUN: trivium-opt %s | FileCheck %s

// The indices' axes take the place of the axis.
// CHECK-LABEL: func.func @gather
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[INDICES:.*]]: {{.*}})
// CHECK:         "tri.gather"(%[[X]], %[[INDICES]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<3x4x5xf32>, tensor<2x6xi64>) -> tensor<3x2x6x5xf32>
func.func @gather(%x: tensor<3x4x5xf32>, %indices: tensor<2x6xi64>) -> tensor<3x2x6x5xf32> {
  %0 = "tri.gather"(%x, %indices) {axis = 1 : i64}
      : (tensor<3x4x5xf32>, tensor<2x6xi64>) -> tensor<3x2x6x5xf32>
  return %0 : tensor<3x2x6x5xf32>
}

// CHECK-LABEL: func.func @gather_one
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[INDICES:.*]]: {{.*}})
// CHECK:         "tri.gather"(%[[X]], %[[INDICES]])
// CHECK-SAME:      : (tensor<3x4xf32>, tensor<i32>) -> tensor<4xf32>
func.func @gather_one(%x: tensor<3x4xf32>, %indices: tensor<i32>) -> tensor<4xf32> {
  %0 = "tri.gather"(%x, %indices) : (tensor<3x4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @gather_elements
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[INDICES:.*]]: {{.*}})
// CHECK:         "tri.gather_elements"(%[[X]], %[[INDICES]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<3x4xf32>, tensor<2x6xi64>) -> tensor<2x6xf32>
func.func @gather_elements(%x: tensor<3x4xf32>, %indices: tensor<2x6xi64>) -> tensor<2x6xf32> {
  %0 = "tri.gather_elements"(%x, %indices) {axis = 1 : i64}
      : (tensor<3x4xf32>, tensor<2x6xi64>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @gather_nd
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[INDICES:.*]]: {{.*}})
// CHECK:         "tri.gather_nd"(%[[X]], %[[INDICES]])
// CHECK-SAME:      : (tensor<3x4x5xf32>, tensor<2x2xi64>) -> tensor<2x5xf32>
func.func @gather_nd(%x: tensor<3x4x5xf32>, %indices: tensor<2x2xi64>) -> tensor<2x5xf32> {
  %0 = "tri.gather_nd"(%x, %indices) : (tensor<3x4x5xf32>, tensor<2x2xi64>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @gather_nd_of_batches
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[INDICES:.*]]: {{.*}})
// CHECK:         "tri.gather_nd"(%[[X]], %[[INDICES]]) {batch_dims = 1 : i64}
// CHECK-SAME:      : (tensor<3x4x5xf32>, tensor<3x2x1xi64>) -> tensor<3x2x5xf32>
func.func @gather_nd_of_batches(%x: tensor<3x4x5xf32>, %indices: tensor<3x2x1xi64>) -> tensor<3x2x5xf32> {
  %0 = "tri.gather_nd"(%x, %indices) {batch_dims = 1 : i64}
      : (tensor<3x4x5xf32>, tensor<3x2x1xi64>) -> tensor<3x2x5xf32>
  return %0 : tensor<3x2x5xf32>
}

// CHECK-LABEL: func.func @scatter_elements
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[INDICES:.*]]: {{.*}}, %[[UPDATES:.*]]: {{.*}})
// CHECK:         "tri.scatter_elements"(%[[X]], %[[INDICES]], %[[UPDATES]])
// CHECK-SAME:      : (tensor<3x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
func.func @scatter_elements(%x: tensor<3x4xf32>, %indices: tensor<2x4xi64>, %updates: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %0 = "tri.scatter_elements"(%x, %indices, %updates)
      : (tensor<3x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @adds_elements
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[INDICES:.*]]: {{.*}}, %[[UPDATES:.*]]: {{.*}})
// CHECK:         "tri.scatter_elements"(%[[X]], %[[INDICES]], %[[UPDATES]]) {axis = 0 : i64, reduction = "add"}
// CHECK-SAME:      : (tensor<3x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
func.func @adds_elements(%x: tensor<3x4xf32>, %indices: tensor<2x4xi64>, %updates: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %0 = "tri.scatter_elements"(%x, %indices, %updates) {axis = 0 : i64, reduction = "add"}
      : (tensor<3x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @scatter_nd
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[INDICES:.*]]: {{.*}}, %[[UPDATES:.*]]: {{.*}})
// CHECK:         "tri.scatter_nd"(%[[X]], %[[INDICES]], %[[UPDATES]]) {reduction = "max"}
// CHECK-SAME:      : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
func.func @scatter_nd(%x: tensor<3x4xf32>, %indices: tensor<2x1xi64>, %updates: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %0 = "tri.scatter_nd"(%x, %indices, %updates) {reduction = "max"}
      : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @one_hot
// CHECK-SAME:    (%[[INDICES:.*]]: {{.*}}, %[[VALUES:.*]]: {{.*}})
// CHECK:         "tri.one_hot"(%[[INDICES]], %[[VALUES]]) {axis = 1 : i64, depth = 5 : i64}
// CHECK-SAME:      : (tensor<2x3xi64>, tensor<2xf32>) -> tensor<2x5x3xf32>
func.func @one_hot(%indices: tensor<2x3xi64>, %values: tensor<2xf32>) -> tensor<2x5x3xf32> {
  %0 = "tri.one_hot"(%indices, %values) {axis = 1 : i64, depth = 5 : i64}
      : (tensor<2x3xi64>, tensor<2xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @along_a_new_last_axis
// CHECK-SAME:    (%[[INDICES:.*]]: {{.*}}, %[[VALUES:.*]]: {{.*}})
// CHECK:         "tri.one_hot"(%[[INDICES]], %[[VALUES]]) {depth = 4 : i64}
// CHECK-SAME:      : (tensor<3xi64>, tensor<2xi8>) -> tensor<3x4xi8>
func.func @along_a_new_last_axis(%indices: tensor<3xi64>, %values: tensor<2xi8>) -> tensor<3x4xi8> {
  %0 = "tri.one_hot"(%indices, %values) {depth = 4 : i64}
      : (tensor<3xi64>, tensor<2xi8>) -> tensor<3x4xi8>
  return %0 : tensor<3x4xi8>
}
