// RUN: trivium-opt %s --choose-winograd='error=2e-6 machine=x86-64-v4' | FileCheck %s
// RUN: trivium-opt %s --choose-winograd=machine=x86-64-v3 | FileCheck %s --check-prefix=LOOSE
// RUN: trivium-opt %s --choose-winograd=error=0 | FileCheck %s --check-prefix=STRICT

// Enough channels, stride one: large tiles by default, small ones where less error is allowed.
// So many outputs are multiplied at a time as the machine's registers hold sums. The 9 taps of each
// kernel stay constants; they become 16 numbers when a package is loaded. 32 outputs are 2 blocks of
// 11 and one of 10.
// CHECK-LABEL: func.func @transforms_3x3
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK-DAG:     %[[LARGE:.*]] = "tri.weight"() {{.*}} -> tensor<2x9x32x11xf32>
// CHECK-DAG:     %[[SMALL:.*]] = "tri.weight"() {{.*}} -> tensor<1x9x32x10xf32>
// CHECK-DAG:     %[[T:.*]] = "tri.constant"() {{.*}} -> tensor<16x9xf32>
// CHECK:         %[[FIRST:.*]] = "tri.reshape"(%[[LARGE]]) {shape = array<i64: 2, 9, 352>}
// CHECK:         "tri.mat_mul"(%[[T]], %[[FIRST]]) {{.*}} -> tensor<2x16x352xf32>
// CHECK:         %[[LAST:.*]] = "tri.reshape"(%[[SMALL]]) {shape = array<i64: 1, 9, 320>}
// CHECK:         "tri.mat_mul"(%[[T]], %[[LAST]]) {{.*}} -> tensor<1x16x320xf32>
// CHECK:         %[[U:.*]] = "tri.concat"
// CHECK:         "cpu.winograd_conv"(%[[X]], %[[U]]){{.*}}block = 14{{.*}}tile = 2
// LOOSE-LABEL: func.func @transforms_3x3
// LOOSE:         "cpu.winograd_conv"{{.*}}block = 6{{.*}}tile = 4
// STRICT-LABEL: func.func @transforms_3x3
// STRICT:        "tri.conv"
func.func @transforms_3x3(%x: tensor<1x32x32x32xf32>) -> tensor<1x32x32x32xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<32x32x3x3xf32>} : () -> tensor<32x32x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x32x32x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x32x32xf32>
  return %y : tensor<1x32x32x32xf32>
}

// CHECK-LABEL: func.func @keeps_strided
// CHECK:         "tri.conv"
func.func @keeps_strided(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x3x3xf32>} : () -> tensor<16x16x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x4x4xf32>
  return %y : tensor<1x16x4x4xf32>
}

// CHECK-LABEL: func.func @keeps_variable_kernels
// CHECK:         "tri.conv"
func.func @keeps_variable_kernels(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32> {
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  return %y : tensor<1x16x8x8xf32>
}

// CHECK-LABEL: func.func @keeps_few_channels
// CHECK:         "tri.conv"
func.func @keeps_few_channels(%x: tensor<1x3x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x3x3x3xf32>} : () -> tensor<16x3x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
  return %y : tensor<1x16x8x8xf32>
}

// A fixed schedule wins over what is expected to be fast, both ways.
// CHECK-LABEL: func.func @keeps_a_fixed_sum_of_products
// CHECK:         "tri.conv"
func.func @keeps_a_fixed_sum_of_products(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x3x3xf32>} : () -> tensor<16x16x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, trivium.schedule = "packed 6x4"}
      : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  return %y : tensor<1x16x8x8xf32>
}

// CHECK-LABEL: func.func @transforms_few_channels_when_fixed
// CHECK:         "cpu.winograd_conv"{{.*}}tile = 2
// STRICT-LABEL: func.func @transforms_few_channels_when_fixed
// STRICT:         "tri.conv"
func.func @transforms_few_channels_when_fixed(%x: tensor<1x3x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x3x3x3xf32>} : () -> tensor<16x3x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, trivium.schedule = "winograd 2x2"}
      : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
  return %y : tensor<1x16x8x8xf32>
}

// A fixed schedule does not allow an error that the user did not.
// CHECK-LABEL: func.func @keeps_large_tiles_off
// CHECK:         "cpu.winograd_conv"{{.*}}tile = 2
// LOOSE-LABEL: func.func @keeps_large_tiles_off
// LOOSE:         "cpu.winograd_conv"{{.*}}tile = 4
func.func @keeps_large_tiles_off(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x3x3xf32>} : () -> tensor<16x16x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, trivium.schedule = "winograd 4x4"}
      : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  return %y : tensor<1x16x8x8xf32>
}
