// RUN: trivium-opt %s --choose-dot-products=machine=armv8.2-a | FileCheck %s
// RUN: trivium-opt %s --choose-dot-products=machine=armv8-a | FileCheck %s --check-prefix=PLAIN

// The instruction takes signed bytes: unsigned ones are 128 less, and the bias has 128 * 6 more.
// CHECK-LABEL: func.func @makes_unsigned_bytes_signed
// CHECK:         "tri.constant"() {value = dense<708> : tensor<1xi32>}
// CHECK:         "cpu.dot_mat_mul"({{.*}} {columns = 1 : i64, signed = true} : (tensor<2x3xui8>
// PLAIN-LABEL: func.func @makes_unsigned_bytes_signed
// PLAIN:         "tri.constant"() {value = dense<-60> : tensor<1xi32>}
// PLAIN:         "cpu.dot_mat_mul"({{.*}} {columns = 1 : i64, signed = false} : (tensor<2x3xui8>
func.func @makes_unsigned_bytes_signed(%x: tensor<2x3xui8>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2], [3]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %z = "tri.constant"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %c = "tri.sub"(%a, %z) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%c, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// Signed bytes are multiplied as they are.
// CHECK-LABEL: func.func @keeps_signed_bytes
// CHECK:         "tri.constant"() {value = dense<0> : tensor<1xi32>}
// CHECK:         "cpu.dot_mat_mul"({{.*}}signed = true} : (tensor<2x3xi8>
// PLAIN-LABEL: func.func @keeps_signed_bytes
// PLAIN:         "tri.constant"() {value = dense<-768> : tensor<1xi32>}
func.func @keeps_signed_bytes(%x: tensor<2x3xi8>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2], [3]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xi8>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}
