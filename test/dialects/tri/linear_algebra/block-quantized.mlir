// RUN: trivium-opt %s | FileCheck %s
// RUN: trivium-opt %s --decompose=ops=block_quantized_mat_mul | FileCheck %s --check-prefix=PARTS

// A matrix of 5 rows, of 40 elements of 4 bits each, in 3 blocks of 16.
// CHECK-LABEL: func.func @four_bits
// CHECK:         "tri.block_quantized_mat_mul"(%{{.*}}, %{{.*}}, %{{.*}}) {bits = 4 : i64, block = 16 : i64}
// CHECK-SAME:      -> tensor<2x5xf32>
// PARTS-LABEL: func.func @four_bits
// PARTS-SAME:    (%[[A:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[S:[^:]*]]:
// PARTS:         %[[APART:.*]] = "tri.reshape"(%[[W]]) {shape = array<i64: 5, 3, 8, 1>}
// PARTS:         %[[SHIFTED:.*]] = "tri.shift_right"(%[[APART]]
// PARTS:         "tri.bitwise_and"(%[[SHIFTED]]
// PARTS:         %[[NUMBERS:.*]] = "tri.cast"({{.*}}) {{.*}} -> tensor<5x3x16xf32>
// PARTS:         %[[CENTERED:.*]] = "tri.sub"(%[[NUMBERS]]
// PARTS:         "tri.mul"(%[[CENTERED]]
// PARTS:         "tri.slice"{{.*}} -> tensor<5x40xf32>
// PARTS:         %[[M:.*]] = "tri.transpose"
// PARTS:         "tri.mat_mul"(%[[A]], %[[M]])
// PARTS-NOT:     tri.block_quantized_mat_mul
func.func @four_bits(%a: tensor<2x40xf32>, %w: tensor<5x3x8xui8>, %s: tensor<5x3xf32>) -> tensor<2x5xf32> {
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 16}
      : (tensor<2x40xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// Bytes are not taken apart, and blocks that are full not cut; halves are summed in f32.
// CHECK-LABEL: func.func @bytes
// CHECK:         "tri.block_quantized_mat_mul"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {bits = 8 : i64
// PARTS-LABEL: func.func @bytes
// PARTS-NOT:     tri.shift_right
// PARTS-NOT:     tri.slice
// PARTS:         %[[Y:.*]] = "tri.mat_mul"{{.*}} -> tensor<2x5xf32>
// PARTS:         "tri.cast"(%[[Y]]) {{.*}} -> tensor<2x5xf16>
func.func @bytes(%a: tensor<2x32xf16>, %w: tensor<5x2x16xui8>, %s: tensor<5x2xf16>, %z: tensor<5x2xui8>) -> tensor<2x5xf16> {
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s, %z) {bits = 8, block = 16}
      : (tensor<2x32xf16>, tensor<5x2x16xui8>, tensor<5x2xf16>, tensor<5x2xui8>) -> tensor<2x5xf16>
  return %y : tensor<2x5xf16>
}

// Each block is divided by its largest magnitude, and rounded, before it is multiplied.
// CHECK-LABEL: func.func @rounded
// CHECK:         "tri.block_quantized_mat_mul"{{.*}} {activations = "i8", bits
// PARTS-LABEL: func.func @rounded
// PARTS-SAME:    (%[[A:[^:]*]]:
// PARTS:         %[[FILLED:.*]] = "tri.pad"(%[[A]]) {{.*}} -> tensor<2x48xf32>
// PARTS:         %[[APART:.*]] = "tri.reshape"(%[[FILLED]]) {shape = array<i64: 2, 3, 16>}
// PARTS:         %[[SIZES:.*]] = "tri.abs"(%[[APART]])
// PARTS:         "tri.reduce_max"(%[[SIZES]]) {axes = array<i64: 2>, keepdims = true}
// PARTS:         "tri.round"
// PARTS:         %[[CUT:.*]] = "tri.slice"{{.*}} -> tensor<2x40xf32>
// PARTS:         "tri.mat_mul"(%[[CUT]],
func.func @rounded(%a: tensor<2x40xf32>, %w: tensor<5x3x8xui8>, %s: tensor<5x3xf32>) -> tensor<2x5xf32> {
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 16, activations = "i8"}
      : (tensor<2x40xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
