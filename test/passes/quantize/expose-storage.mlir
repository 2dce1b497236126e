// RUN: trivium-opt %s --expose-storage | FileCheck %s

// What moves quantised numbers moves their integers, and the casts around it cancel.
// CHECK-LABEL: func.func @moves_integers
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xi8>)
// CHECK-NOT:     tri.storage_cast
// CHECK:         %[[Y:.*]] = "tri.reshape"(%[[X]]) {{.*}} : (tensor<2x3xi8>) -> tensor<6xi8>
// CHECK-NOT:     tri.storage_cast
// CHECK:         return %[[Y]]
func.func @moves_integers(%x: tensor<2x3xi8>) -> tensor<6xi8> {
  %0 = "tri.storage_cast"(%x) {to = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2x3xi8>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5>>
  %1 = "tri.reshape"(%0) {shape = array<i64: 6>} : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>) -> tensor<6x!quant.uniform<i8:f32, 0.5>>
  %2 = "tri.storage_cast"(%1) {to = "i8"} : (tensor<6x!quant.uniform<i8:f32, 0.5>>) -> tensor<6xi8>
  return %2 : tensor<6xi8>
}

// The function says that its result is quantised.
// CHECK-LABEL: func.func @keeps_the_type_of_a_result
// CHECK:         %[[Y:.*]] = "tri.storage_cast"
// CHECK:         return %[[Y]] : tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
func.func @keeps_the_type_of_a_result(%x: tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.5>> {
  %0 = "tri.storage_cast"(%x) {to = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5>>
}

// Another scale makes other numbers of the same integers: the cast back is no inverse.
// CHECK-LABEL: func.func @keeps_a_change_of_scale
// CHECK-COUNT-2: "tri.storage_cast"
func.func @keeps_a_change_of_scale(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32> {
  %0 = "tri.storage_cast"(%x) {to = "i8"} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xi8>
  %1 = "tri.storage_cast"(%0) {to = "!quant.uniform<i8:f32, 0.25>"} : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.25>>
  %2 = "tri.dequantize"(%1) {of = "!quant.uniform<i8:f32, 0.25>"} : (tensor<2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
