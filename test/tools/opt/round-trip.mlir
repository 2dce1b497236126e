// RUN: trivium-opt %s | trivium-opt - | FileCheck %s

// What is printed can be read again, weights and constants included.
// CHECK-LABEL: func.func @keeps_everything
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32> {trivium.note = "input"})
// CHECK:         %[[C:.*]] = "tri.constant"() {value = dense<{{.*}}> : tensor<3xf32>}
// CHECK:         %[[W:.*]] = "tri.weight"() {name = "fc.weight", type = tensor<2x3xf32>}
// CHECK:         %[[A:.*]] = "tri.add"(%[[X]], %[[C]])
// CHECK:         %[[B:.*]] = "tri.add"(%[[A]], %[[W]])
// CHECK:         return %[[B]] : tensor<2x3xf32>
func.func @keeps_everything(%x: tensor<2x3xf32> {trivium.note = "input"}) -> tensor<2x3xf32> {
  %c = "tri.constant"() {value = dense<[1.0, -0.0, 0x7FC00000]> : tensor<3xf32>} : () -> tensor<3xf32>
  %w = "tri.weight"() {name = "fc.weight", type = tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %0 = "tri.add"(%x, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "tri.add"(%0, %w) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
