// RUN: trivium-opt %s --split-input-file --pad-channels=machine=x86-64-v4 | FileCheck %s

// The convolution before gets outputs of zeros, the one behind weights of zeros. Constants that are
// broadcast along channels get ones.
// CHECK-LABEL: func.func @fills_volumes
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK-DAG:     %[[W:.*]] = "tri.constant"() {{.*}} : tensor<32x8x1x1x1xf32>}
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {{.*}} : tensor<32xf32>}
// CHECK:         %[[A:.*]] = "tri.conv"(%[[X]], %[[W]], %[[B]]) {{.*}}group = 1
// CHECK:         %[[V:.*]] = "tri.weight"() {{.*}}type = tensor<32x1x3x3x3xf32>
// CHECK:         %[[D:.*]] = "tri.conv"(%[[A]], %[[V]]) {{.*}}group = 32
// CHECK:         %[[S:.*]] = "tri.constant"() {{.*}} : tensor<1x32x1x1x1xf32>}
// CHECK:         %[[E:.*]] = "tri.div"(%[[D]], %[[S]])
// CHECK:         %[[M:.*]] = "tri.reduce_mean"(%[[E]])
// CHECK:         %[[F:.*]] = "tri.mul"(%[[E]], %[[M]])
// CHECK:         %[[U:.*]] = "tri.constant"() {{.*}} : tensor<8x32x1x1x1xf32>}
// CHECK:         %[[Y:.*]] = "tri.conv"(%[[F]], %[[U]]) {{.*}} -> tensor<1x8x9x16x16xf32>
// CHECK:         return %[[Y]]
func.func @fills_volumes(%x: tensor<1x8x9x16x16xf32>) -> tensor<1x8x9x16x16xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<30x8x1x1x1xf32>} : () -> tensor<30x8x1x1x1xf32>
  %b = "tri.constant"() {value = dense<2.0> : tensor<30xf32>} : () -> tensor<30xf32>
  %v = "tri.constant"() {value = dense<3.0> : tensor<30x1x3x3x3xf32>} : () -> tensor<30x1x3x3x3xf32>
  %s = "tri.constant"() {value = dense<4.0> : tensor<1x30x1x1x1xf32>} : () -> tensor<1x30x1x1x1xf32>
  %u = "tri.constant"() {value = dense<5.0> : tensor<8x30x1x1x1xf32>} : () -> tensor<8x30x1x1x1xf32>
  %0 = "tri.conv"(%x, %w, %b) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x8x9x16x16xf32>, tensor<30x8x1x1x1xf32>, tensor<30xf32>) -> tensor<1x30x9x16x16xf32>
  %1 = "tri.conv"(%0, %v) {strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>, group = 30} : (tensor<1x30x9x16x16xf32>, tensor<30x1x3x3x3xf32>) -> tensor<1x30x9x16x16xf32>
  %2 = "tri.div"(%1, %s) : (tensor<1x30x9x16x16xf32>, tensor<1x30x1x1x1xf32>) -> tensor<1x30x9x16x16xf32>
  %3 = "tri.reduce_mean"(%2) {axes = array<i64: 2, 3, 4>, keepdims = true} : (tensor<1x30x9x16x16xf32>) -> tensor<1x30x1x1x1xf32>
  %4 = "tri.mul"(%2, %3) : (tensor<1x30x9x16x16xf32>, tensor<1x30x1x1x1xf32>) -> tensor<1x30x9x16x16xf32>
  %5 = "tri.conv"(%4, %u) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x30x9x16x16xf32>, tensor<8x30x1x1x1xf32>) -> tensor<1x8x9x16x16xf32>
  return %5 : tensor<1x8x9x16x16xf32>
}

// -----

// Of 20 channels, 12 more are too many.
// CHECK-LABEL: func.func @keeps_what_costs_much
// CHECK-NOT:     tensor<1x32x
func.func @keeps_what_costs_much(%x: tensor<1x8x9x16x16xf32>) -> tensor<1x8x9x16x16xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<20x8x1x1x1xf32>} : () -> tensor<20x8x1x1x1xf32>
  %b = "tri.constant"() {value = dense<2.0> : tensor<20xf32>} : () -> tensor<20xf32>
  %v = "tri.constant"() {value = dense<3.0> : tensor<20x1x3x3x3xf32>} : () -> tensor<20x1x3x3x3xf32>
  %s = "tri.constant"() {value = dense<4.0> : tensor<1x20x1x1x1xf32>} : () -> tensor<1x20x1x1x1xf32>
  %u = "tri.constant"() {value = dense<5.0> : tensor<8x20x1x1x1xf32>} : () -> tensor<8x20x1x1x1xf32>
  %0 = "tri.conv"(%x, %w, %b) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x8x9x16x16xf32>, tensor<20x8x1x1x1xf32>, tensor<20xf32>) -> tensor<1x20x9x16x16xf32>
  %1 = "tri.conv"(%0, %v) {strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>, group = 20} : (tensor<1x20x9x16x16xf32>, tensor<20x1x3x3x3xf32>) -> tensor<1x20x9x16x16xf32>
  %2 = "tri.div"(%1, %s) : (tensor<1x20x9x16x16xf32>, tensor<1x20x1x1x1xf32>) -> tensor<1x20x9x16x16xf32>
  %5 = "tri.conv"(%2, %u) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x20x9x16x16xf32>, tensor<8x20x1x1x1xf32>) -> tensor<1x8x9x16x16xf32>
  return %5 : tensor<1x8x9x16x16xf32>
}

// -----

// CHECK-LABEL: func.func @keeps_whole_blocks
// CHECK:         group = 32
// CHECK-NOT:     tensor<1x48x
func.func @keeps_whole_blocks(%x: tensor<1x8x9x16x16xf32>) -> tensor<1x8x9x16x16xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<32x8x1x1x1xf32>} : () -> tensor<32x8x1x1x1xf32>
  %b = "tri.constant"() {value = dense<2.0> : tensor<32xf32>} : () -> tensor<32xf32>
  %v = "tri.constant"() {value = dense<3.0> : tensor<32x1x3x3x3xf32>} : () -> tensor<32x1x3x3x3xf32>
  %s = "tri.constant"() {value = dense<4.0> : tensor<1x32x1x1x1xf32>} : () -> tensor<1x32x1x1x1xf32>
  %u = "tri.constant"() {value = dense<5.0> : tensor<8x32x1x1x1xf32>} : () -> tensor<8x32x1x1x1xf32>
  %0 = "tri.conv"(%x, %w, %b) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x8x9x16x16xf32>, tensor<32x8x1x1x1xf32>, tensor<32xf32>) -> tensor<1x32x9x16x16xf32>
  %1 = "tri.conv"(%0, %v) {strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>, group = 32} : (tensor<1x32x9x16x16xf32>, tensor<32x1x3x3x3xf32>) -> tensor<1x32x9x16x16xf32>
  %2 = "tri.div"(%1, %s) : (tensor<1x32x9x16x16xf32>, tensor<1x32x1x1x1xf32>) -> tensor<1x32x9x16x16xf32>
  %5 = "tri.conv"(%2, %u) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x32x9x16x16xf32>, tensor<8x32x1x1x1xf32>) -> tensor<1x8x9x16x16xf32>
  return %5 : tensor<1x8x9x16x16xf32>
}

// -----

// Somebody else reads all channels.
// CHECK-LABEL: func.func @keeps_outputs
// CHECK-NOT:     tensor<1x32x
func.func @keeps_outputs(%x: tensor<1x8x9x16x16xf32>) -> tensor<1x30x9x16x16xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<30x8x1x1x1xf32>} : () -> tensor<30x8x1x1x1xf32>
  %b = "tri.constant"() {value = dense<2.0> : tensor<30xf32>} : () -> tensor<30xf32>
  %v = "tri.constant"() {value = dense<3.0> : tensor<30x1x3x3x3xf32>} : () -> tensor<30x1x3x3x3xf32>
  %s = "tri.constant"() {value = dense<4.0> : tensor<1x30x1x1x1xf32>} : () -> tensor<1x30x1x1x1xf32>
  %u = "tri.constant"() {value = dense<5.0> : tensor<8x30x1x1x1xf32>} : () -> tensor<8x30x1x1x1xf32>
  %0 = "tri.conv"(%x, %w, %b) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x8x9x16x16xf32>, tensor<30x8x1x1x1xf32>, tensor<30xf32>) -> tensor<1x30x9x16x16xf32>
  %1 = "tri.conv"(%0, %v) {strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>, group = 30} : (tensor<1x30x9x16x16xf32>, tensor<30x1x3x3x3xf32>) -> tensor<1x30x9x16x16xf32>
  %2 = "tri.div"(%1, %s) : (tensor<1x30x9x16x16xf32>, tensor<1x30x1x1x1xf32>) -> tensor<1x30x9x16x16xf32>
  %6 = "tri.relu"(%2) : (tensor<1x30x9x16x16xf32>) -> tensor<1x30x9x16x16xf32>
  return %6 : tensor<1x30x9x16x16xf32>
}

// -----

// Softmax along channels is no work on each of them.
// CHECK-LABEL: func.func @keeps_what_mixes_channels
// CHECK-NOT:     tensor<1x32x
func.func @keeps_what_mixes_channels(%x: tensor<1x8x9x16x16xf32>) -> tensor<1x8x9x16x16xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<30x8x1x1x1xf32>} : () -> tensor<30x8x1x1x1xf32>
  %b = "tri.constant"() {value = dense<2.0> : tensor<30xf32>} : () -> tensor<30xf32>
  %v = "tri.constant"() {value = dense<3.0> : tensor<30x1x3x3x3xf32>} : () -> tensor<30x1x3x3x3xf32>
  %s = "tri.constant"() {value = dense<4.0> : tensor<1x30x1x1x1xf32>} : () -> tensor<1x30x1x1x1xf32>
  %u = "tri.constant"() {value = dense<5.0> : tensor<8x30x1x1x1xf32>} : () -> tensor<8x30x1x1x1xf32>
  %0 = "tri.conv"(%x, %w, %b) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x8x9x16x16xf32>, tensor<30x8x1x1x1xf32>, tensor<30xf32>) -> tensor<1x30x9x16x16xf32>
  %1 = "tri.conv"(%0, %v) {strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>, group = 30} : (tensor<1x30x9x16x16xf32>, tensor<30x1x3x3x3xf32>) -> tensor<1x30x9x16x16xf32>
  %2 = "tri.div"(%1, %s) : (tensor<1x30x9x16x16xf32>, tensor<1x30x1x1x1xf32>) -> tensor<1x30x9x16x16xf32>
  %4 = "tri.softmax"(%2) {axis = 1} : (tensor<1x30x9x16x16xf32>) -> tensor<1x30x9x16x16xf32>
  %5 = "tri.conv"(%4, %u) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x30x9x16x16xf32>, tensor<8x30x1x1x1xf32>) -> tensor<1x8x9x16x16xf32>
  return %5 : tensor<1x8x9x16x16xf32>
}

// -----

// An image of 17 MB comes from memory, where more channels take longer.
// CHECK-LABEL: func.func @keeps_large_images
// CHECK-NOT:     tensor<1x32x
func.func @keeps_large_images(%x: tensor<1x8x36x64x64xf32>) -> tensor<1x8x36x64x64xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<30x8x1x1x1xf32>} : () -> tensor<30x8x1x1x1xf32>
  %b = "tri.constant"() {value = dense<2.0> : tensor<30xf32>} : () -> tensor<30xf32>
  %v = "tri.constant"() {value = dense<3.0> : tensor<30x1x3x3x3xf32>} : () -> tensor<30x1x3x3x3xf32>
  %s = "tri.constant"() {value = dense<4.0> : tensor<1x30x1x1x1xf32>} : () -> tensor<1x30x1x1x1xf32>
  %u = "tri.constant"() {value = dense<5.0> : tensor<8x30x1x1x1xf32>} : () -> tensor<8x30x1x1x1xf32>
  %0 = "tri.conv"(%x, %w, %b) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x8x36x64x64xf32>, tensor<30x8x1x1x1xf32>, tensor<30xf32>) -> tensor<1x30x36x64x64xf32>
  %1 = "tri.conv"(%0, %v) {strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>, group = 30} : (tensor<1x30x36x64x64xf32>, tensor<30x1x3x3x3xf32>) -> tensor<1x30x36x64x64xf32>
  %2 = "tri.div"(%1, %s) : (tensor<1x30x36x64x64xf32>, tensor<1x30x1x1x1xf32>) -> tensor<1x30x36x64x64xf32>
  %5 = "tri.conv"(%2, %u) {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1} : (tensor<1x30x36x64x64xf32>, tensor<8x30x1x1x1xf32>) -> tensor<1x8x36x64x64xf32>
  return %5 : tensor<1x8x36x64x64xf32>
}
