// Numbers that an elementwise op reads are in its kernel, which may then do without a logarithm.
// Numbers of other ops, and constants of several elements, stay operands, as all do where kernels
// are of one op.
// RUN: trivium-opt %s --place="targets=cpu" | FileCheck %s
// RUN: trivium-opt %s --place="targets=host" | FileCheck %s --check-prefix=HOST

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-DAG:   %[[SCALE:.*]] = "tri.constant"() {{.*}} -> tensor<3xf32>
// CHECK-DAG:   %[[INDEX:.*]] = "tri.constant"() {{.*}} -> tensor<i64>
// CHECK:       "tri.group"(%[[X]]) ({
// CHECK-NEXT:  ^bb0(%[[IN:.*]]: tensor<2x3xf32>
// CHECK-NEXT:    %[[TWO:.*]] = "tri.constant"() {{.*}} -> tensor<f32>
// CHECK-NEXT:    "tri.pow"(%[[IN]], %[[TWO]])
// CHECK:       "tri.group"(%{{[0-9a-z]+}}, %[[SCALE]]) ({
// CHECK-NOT:     "tri.constant"
// CHECK:         "tri.mul"
// CHECK:       "tri.group"(%{{[0-9a-z]+}}, %[[INDEX]]) ({
// CHECK-NOT:     "tri.constant"
// CHECK:         "tri.gather"

// HOST:        "tri.group"(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) ({
// HOST-NOT:      "tri.constant"
// HOST:          "tri.pow"
func.func @main(%x: tensor<2x3xf32>) -> tensor<3xf32> {
  %two = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %scale = "tri.constant"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %index = "tri.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = "tri.pow"(%x, %two) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "tri.mul"(%0, %scale) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = "tri.gather"(%1, %index) {axis = 0} : (tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
