// RUN: trivium-opt %s | FileCheck %s

// Comparisons are answered by bools.
// CHECK-LABEL: func.func @of_numbers
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.equal"(%[[A]], %[[B]]) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi1>
// CHECK:         "tri.less"(%[[A]], %[[B]]) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi1>
// CHECK:         "tri.greater"(%[[A]], %[[B]]) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi1>
// CHECK:         "tri.less_equal"(%[[A]], %[[B]]) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi1>
// CHECK:         "tri.greater_equal"(%[[A]], %[[B]]) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi1>
func.func @of_numbers(%a: tensor<2x3xf16>, %b: tensor<3xf16>) {
  %0 = "tri.equal"(%a, %b) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi1>
  %1 = "tri.less"(%a, %b) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi1>
  %2 = "tri.greater"(%a, %b) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi1>
  %3 = "tri.less_equal"(%a, %b) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi1>
  %4 = "tri.greater_equal"(%a, %b) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi1>
  return
}

// Bools can be equal, and joined.
// CHECK-LABEL: func.func @of_bools
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.equal"(%[[A]], %[[B]]) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
// CHECK:         "tri.and"(%[[A]], %[[B]]) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
// CHECK:         "tri.or"(%[[A]], %[[B]]) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
// CHECK:         "tri.xor"(%[[A]], %[[B]]) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @of_bools(%a: tensor<2x3xi1>, %b: tensor<2x3xi1>) {
  %0 = "tri.equal"(%a, %b) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %1 = "tri.and"(%a, %b) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %2 = "tri.or"(%a, %b) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %3 = "tri.xor"(%a, %b) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return
}
