// RUN: trivium-opt %s --split-input-file --lower-to-buffers | FileCheck %s

// An image that fits into sram beside tiles of the result is loaded once, by rows, into one buffer,
// while parts of the filters go around.
// CHECK:         "dla.program"
// CHECK:         %[[HELD:.*]] = "dla.alloc"() : () -> memref<1x28x28x128xi8, "sram">
// CHECK:         "dla.load"(%{{.*}}, %[[HELD]]) {channels = 128 : i64, columns = 28 : i64, rows = 15 : i64}
// CHECK:         "dla.conv_tile"(%[[HELD]]
// CHECK:         "dla.load"(%{{.*}}, %[[HELD]]) {{.*}}destination_at = array<i64: 0, 15, 0, 0>, rows = 13
// CHECK:         "dla.conv_tile"(%[[HELD]]
// CHECK-SAME:      source_at = array<i64: 0, 13, 0, 0>
// CHECK:         "dla.load_weights"
// CHECK-NOT:     "dla.load"(
// CHECK-LABEL: func.func @held
func.func @held(%x: tensor<1x28x28x128xi8>) -> tensor<1x28x28x128xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<3x3x128x128xi8>} : () -> tensor<3x3x128x128xi8>
  %b = "tri.constant"() {value = dense<0> : tensor<128xi32>} : () -> tensor<128xi32>
  %y = "tri.group"(%x, %w, %b) ({
  ^bb0(%a: tensor<1x28x28x128xi8>, %k: tensor<3x3x128x128xi8>, %c: tensor<128xi32>):
    %0 = "dla.conv"(%a, %k, %c) {pads = array<i64: 1, 1, 1, 1>, multiplier = array<i64: 1>, shift = array<i64: 4>} : (tensor<1x28x28x128xi8>, tensor<3x3x128x128xi8>, tensor<128xi32>) -> tensor<1x28x28x128xi8>
    "tri.yield"(%0) : (tensor<1x28x28x128xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x28x28x128xi8>, tensor<3x3x128x128xi8>, tensor<128xi32>) -> tensor<1x28x28x128xi8>
  return %y : tensor<1x28x28x128xi8>
}

// -----

// What is larger than sram, 256 KiB, is loaded window by window.
// CHECK:         "dla.program"
// CHECK-NOT:     memref<1x48x48x128xi8, "sram">
// CHECK-LABEL: func.func @too_large
func.func @too_large(%x: tensor<1x48x48x128xi8>) -> tensor<1x48x48x128xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<3x3x128x128xi8>} : () -> tensor<3x3x128x128xi8>
  %b = "tri.constant"() {value = dense<0> : tensor<128xi32>} : () -> tensor<128xi32>
  %y = "tri.group"(%x, %w, %b) ({
  ^bb0(%a: tensor<1x48x48x128xi8>, %k: tensor<3x3x128x128xi8>, %c: tensor<128xi32>):
    %0 = "dla.conv"(%a, %k, %c) {pads = array<i64: 1, 1, 1, 1>, multiplier = array<i64: 1>, shift = array<i64: 4>} : (tensor<1x48x48x128xi8>, tensor<3x3x128x128xi8>, tensor<128xi32>) -> tensor<1x48x48x128xi8>
    "tri.yield"(%0) : (tensor<1x48x48x128xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x48x48x128xi8>, tensor<3x3x128x128xi8>, tensor<128xi32>) -> tensor<1x48x48x128xi8>
  return %y : tensor<1x48x48x128xi8>
}
