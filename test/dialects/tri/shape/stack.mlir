// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @stack
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.stack"(%[[A]], %[[B]]) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2x3xf32>
func.func @stack(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x2x3xf32> {
  %0 = "tri.stack"(%a, %b) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2x3xf32>
  return %0 : tensor<2x2x3xf32>
}

// CHECK-LABEL: func.func @unbind
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.unbind"(%[[X]]) {axis = 0 : i64} : (tensor<2x3xi64>) -> (tensor<3xi64>, tensor<3xi64>)
func.func @unbind(%x: tensor<2x3xi64>) -> (tensor<3xi64>, tensor<3xi64>) {
  %0:2 = "tri.unbind"(%x) {axis = 0 : i64} : (tensor<2x3xi64>) -> (tensor<3xi64>, tensor<3xi64>)
  return %0#0, %0#1 : tensor<3xi64>, tensor<3xi64>
}
