// RUN: trivium-opt %s --fold-casts | FileCheck %s

// f32 holds every i8, so the way through it changes nothing.
// CHECK-LABEL: func.func @drops_cast_to_wider_type
// CHECK-SAME:    (%[[X:.*]]: tensor<2xi8>)
// CHECK-NEXT:    %[[Y:.*]] = "tri.cast"(%[[X]]) {{.*}}to = "f16"
// CHECK-NEXT:    return %[[Y]]
func.func @drops_cast_to_wider_type(%x: tensor<2xi8>) -> tensor<2xf16> {
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<2xi8>) -> tensor<2xf32>
  %y = "tri.cast"(%a) {to = "f16"} : (tensor<2xf32>) -> tensor<2xf16>
  return %y : tensor<2xf16>
}

// CHECK-LABEL: func.func @drops_cast_of_bool
// CHECK-SAME:    (%[[X:.*]]: tensor<2xi1>)
// CHECK-NEXT:    "tri.cast"(%[[X]])
func.func @drops_cast_of_bool(%x: tensor<2xi1>) -> tensor<2xf32> {
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2xi1>) -> tensor<2xi32>
  %y = "tri.cast"(%a) {to = "f32"} : (tensor<2xi32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// f16 rounds: the cast to it must happen.
// CHECK-LABEL: func.func @keeps_cast_to_narrower_type
// CHECK:         to = "f16"
// CHECK:         to = "f32"
func.func @keeps_cast_to_narrower_type(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = "tri.cast"(%x) {to = "f16"} : (tensor<2xf32>) -> tensor<2xf16>
  %y = "tri.cast"(%a) {to = "f32"} : (tensor<2xf16>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// f32 has 24 bits of precision, an i32 needs 31.
// CHECK-LABEL: func.func @keeps_cast_that_loses_precision
// CHECK:         to = "f32"
// CHECK:         to = "f64"
func.func @keeps_cast_that_loses_precision(%x: tensor<2xi32>) -> tensor<2xf64> {
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<2xi32>) -> tensor<2xf32>
  %y = "tri.cast"(%a) {to = "f64"} : (tensor<2xf32>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

// Negative numbers wrap around on the way through an unsigned type.
// CHECK-LABEL: func.func @keeps_cast_that_loses_the_sign
// CHECK:         to = "ui16"
// CHECK:         to = "i32"
func.func @keeps_cast_that_loses_the_sign(%x: tensor<2xi8>) -> tensor<2xi32> {
  %a = "tri.cast"(%x) {to = "ui16"} : (tensor<2xi8>) -> tensor<2xui16>
  %y = "tri.cast"(%a) {to = "i32"} : (tensor<2xui16>) -> tensor<2xi32>
  return %y : tensor<2xi32>
}
