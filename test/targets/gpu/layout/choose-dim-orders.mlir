// RUN: trivium-opt %s --choose-dim-orders | FileCheck %s

// What convolutions hand to one another has channels last, and weights lie with output channels last.
// What comes from the host is row-major, and so is what goes there.
// CHECK-LABEL: func.func @puts_channels_last
// CHECK:         "tri.weight"() {{.*}} -> tensor<8x8x3x3xf32, [2, 3, 1, 0]>
// CHECK:         %[[A:.*]] = "tri.copy"
// CHECK:         %[[P:.*]] = "tri.group"(%[[A]], %{{.*}}) ({
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<1x8x4x6xf32>, %{{.*}}: tensor<8x8x1x1xf32, [2, 3, 1, 0]>):
// CHECK-NEXT:    %[[R:.*]] = "tri.conv"({{.*}}) {{.*}} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32, [2, 3, 1, 0]>) -> tensor<1x8x4x6xf32, [0, 2, 3, 1]>
// CHECK-NEXT:    "tri.yield"(%[[R]]) : (tensor<1x8x4x6xf32, [0, 2, 3, 1]>) -> ()
// CHECK-NEXT:    }) {{.*}} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32, [2, 3, 1, 0]>) -> tensor<1x8x4x6xf32, [0, 2, 3, 1]>
// CHECK:         "tri.group"(%[[P]], %{{.*}}) ({
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<1x8x4x6xf32, [0, 2, 3, 1]>, %{{.*}}: tensor<8x8x3x3xf32, [2, 3, 1, 0]>):
// CHECK:         -> tensor<1x8x2x4xf32>
// CHECK:         "tri.copy"(%{{.*}}) {to = "host"} : (tensor<1x8x2x4xf32>)
func.func @puts_channels_last(%x: tensor<1x8x4x6xf32>) -> tensor<1x8x2x4xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<8x8x1x1xf32>} : () -> tensor<8x8x1x1xf32>
  %v = "tri.weight"() {name = "v", type = tensor<8x8x3x3xf32>} : () -> tensor<8x8x3x3xf32>
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %p = "tri.group"(%g, %w) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<8x8x1x1xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
  %q = "tri.group"(%p, %v) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<8x8x3x3xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x2x4xf32>
    "tri.yield"(%b) : (tensor<1x8x2x4xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x2x4xf32>
  %z = "tri.copy"(%q) {to = "host"} : (tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32>
  return %z : tensor<1x8x2x4xf32>
}

// What is elementwise between convolutions follows, over several kernels.
// CHECK-LABEL: func.func @follows
// CHECK:         %[[P:.*]] = "tri.group"
// CHECK:         }) {{.*}} -> tensor<1x8x4x6xf32, [0, 2, 3, 1]>
// CHECK:         "tri.exp"(%{{.*}}) : (tensor<1x8x4x6xf32, [0, 2, 3, 1]>) -> tensor<1x8x4x6xf32, [0, 2, 3, 1]>
// CHECK:         "tri.add"(%{{.*}}) : (tensor<1x8x4x6xf32, [0, 2, 3, 1]>, tensor<1x8x4x6xf32, [0, 2, 3, 1]>) -> tensor<1x8x4x6xf32, [0, 2, 3, 1]>
// CHECK:         "tri.max_pool"
func.func @follows(%x: tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<8x8x1x1xf32>} : () -> tensor<8x8x1x1xf32>
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %p = "tri.group"(%g) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>):
    %b = "tri.softmax"(%a0) {axis = 3 : i64} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %q = "tri.group"(%p) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>):
    %b = "tri.exp"(%a0) : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %r = "tri.group"(%p, %q) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<1x8x4x6xf32>):
    %b = "tri.add"(%a0, %a1) : (tensor<1x8x4x6xf32>, tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>, tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %s = "tri.group"(%r) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>):
    %b = "tri.max_pool"(%a0) {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %z = "tri.copy"(%s) {to = "host"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  return %z : tensor<1x8x4x6xf32>
}

// The pixels of an image as tokens: a reshape that goes along, and a transposition that becomes a view.
// CHECK-LABEL: func.func @views
// CHECK:         %[[P:.*]] = "tri.group"
// CHECK:         %[[V:.*]] = "tri.reshape"(%[[P]]) {shape = array<i64: 1, 8, 24>} : (tensor<1x8x4x6xf32, [0, 2, 3, 1]>) -> tensor<1x8x24xf32, [0, 2, 1]>
// CHECK-NEXT:    %[[T:.*]] = "tri.transpose"(%[[V]]) {permutation = array<i64: 0, 2, 1>} : (tensor<1x8x24xf32, [0, 2, 1]>) -> tensor<1x24x8xf32>
// CHECK-NEXT:    "tri.group"(%[[T]])
func.func @views(%x: tensor<1x8x4x6xf32>) -> tensor<1x24x8xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<8x8x1x1xf32>} : () -> tensor<8x8x1x1xf32>
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %p = "tri.group"(%g, %w) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<8x8x1x1xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
  %v = "tri.reshape"(%p) {shape = array<i64: 1, 8, 24>} : (tensor<1x8x4x6xf32>) -> tensor<1x8x24xf32>
  %t = "tri.group"(%v) ({
  ^bb0(%a0: tensor<1x8x24xf32>):
    %b = "tri.transpose"(%a0) {permutation = array<i64: 0, 2, 1>} : (tensor<1x8x24xf32>) -> tensor<1x24x8xf32>
    "tri.yield"(%b) : (tensor<1x24x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x24xf32>) -> tensor<1x24x8xf32>
  %s = "tri.group"(%t) ({
  ^bb0(%a0: tensor<1x24x8xf32>):
    %b = "tri.softmax"(%a0) {axis = 2 : i64} : (tensor<1x24x8xf32>) -> tensor<1x24x8xf32>
    "tri.yield"(%b) : (tensor<1x24x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x24x8xf32>) -> tensor<1x24x8xf32>
  %z = "tri.copy"(%s) {to = "host"} : (tensor<1x24x8xf32>) -> tensor<1x24x8xf32>
  return %z : tensor<1x24x8xf32>
}

// Transposed on the way out: it lies as the host wants it.
// CHECK-LABEL: func.func @transposed_output
// CHECK:         %[[P:.*]] = "tri.group"
// CHECK:         %[[T:.*]] = "tri.transpose"(%[[P]]) {{.*}} : (tensor<1x8x4x6xf32, [0, 2, 3, 1]>) -> tensor<1x4x6x8xf32>
// CHECK-NEXT:    "tri.copy"(%[[T]]) {to = "host"}
func.func @transposed_output(%x: tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<8x8x1x1xf32>} : () -> tensor<8x8x1x1xf32>
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %p = "tri.group"(%g, %w) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<8x8x1x1xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
  %t = "tri.transpose"(%p) {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
  %z = "tri.copy"(%t) {to = "host"} : (tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return %z : tensor<1x4x6x8xf32>
}

// An image that comes with channels last is read as it lies.
// CHECK-LABEL: func.func @transposed_input
// CHECK:         %[[G:.*]] = "tri.copy"
// CHECK:         %[[T:.*]] = "tri.transpose"(%[[G]]) {{.*}} : (tensor<1x4x6x8xf32>) -> tensor<1x8x4x6xf32, [0, 2, 3, 1]>
// CHECK-NEXT:    "tri.group"(%[[T]]
func.func @transposed_input(%x: tensor<1x4x6x8xf32>) -> tensor<1x8x4x6xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<8x8x1x1xf32>} : () -> tensor<8x8x1x1xf32>
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  %t = "tri.group"(%g) ({
  ^bb0(%a0: tensor<1x4x6x8xf32>):
    %b = "tri.transpose"(%a0) {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x6x8xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x4x6x8xf32>) -> tensor<1x8x4x6xf32>
  %p = "tri.group"(%t, %w) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<8x8x1x1xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
  %z = "tri.copy"(%p) {to = "host"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  return %z : tensor<1x8x4x6xf32>
}

// Channels and places do not make one axis when channels are last: the image is row-major.
// CHECK-LABEL: func.func @keeps_what_is_flattened
// CHECK:         -> tensor<1x8x4x6xf32>
// CHECK-NOT:     [0, 2, 3, 1]
// CHECK:         return
func.func @keeps_what_is_flattened(%x: tensor<1x8x4x6xf32>) -> tensor<1x192xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<8x8x1x1xf32>} : () -> tensor<8x8x1x1xf32>
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %p = "tri.group"(%g, %w) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<8x8x1x1xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
  %v = "tri.reshape"(%p) {shape = array<i64: 1, 192>} : (tensor<1x8x4x6xf32>) -> tensor<1x192xf32>
  %s = "tri.group"(%v) ({
  ^bb0(%a0: tensor<1x192xf32>):
    %b = "tri.softmax"(%a0) {axis = 1 : i64} : (tensor<1x192xf32>) -> tensor<1x192xf32>
    "tri.yield"(%b) : (tensor<1x192xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x192xf32>) -> tensor<1x192xf32>
  %z = "tri.copy"(%s) {to = "host"} : (tensor<1x192xf32>) -> tensor<1x192xf32>
  return %z : tensor<1x192xf32>
}

// What the host reads, too, is row-major.
// CHECK-LABEL: func.func @keeps_what_leaves
// CHECK-NOT:     [0, 2, 3, 1]
// CHECK:         return
func.func @keeps_what_leaves(%x: tensor<1x8x4x6xf32>) -> (tensor<1x8x4x6xf32>, tensor<1x8x4x6xf32>) {
  %w = "tri.weight"() {name = "w", type = tensor<8x8x1x1xf32>} : () -> tensor<8x8x1x1xf32>
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %p = "tri.group"(%g, %w) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<8x8x1x1xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
  %q = "tri.group"(%p, %w) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<8x8x1x1xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
  %y = "tri.copy"(%p) {to = "host"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %z = "tri.copy"(%q) {to = "host"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  return %y, %z : tensor<1x8x4x6xf32>, tensor<1x8x4x6xf32>
}

// Images of one pixel are row-major, whatever one says of them.
// CHECK-LABEL: func.func @keeps_single_pixels
// CHECK-NOT:     [0, 2, 3, 1]
// CHECK:         return
func.func @keeps_single_pixels(%x: tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<8x8x1x1xf32>} : () -> tensor<8x8x1x1xf32>
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf32>
  %p = "tri.group"(%g, %w) ({
  ^bb0(%a0: tensor<1x8x1x1xf32>, %a1: tensor<8x8x1x1xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x1x1xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x1x1xf32>
    "tri.yield"(%b) : (tensor<1x8x1x1xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x1x1xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x1x1xf32>
  %q = "tri.group"(%p, %w) ({
  ^bb0(%a0: tensor<1x8x1x1xf32>, %a1: tensor<8x8x1x1xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x1x1xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x1x1xf32>
    "tri.yield"(%b) : (tensor<1x8x1x1xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x1x1xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x1x1xf32>
  %z = "tri.copy"(%q) {to = "host"} : (tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf32>
  return %z : tensor<1x8x1x1xf32>
}

// A transposition whose result leaves must be computed, unless what it reads has the right order.
// CHECK-LABEL: func.func @keeps_transposition_for_the_host
// CHECK:         "tri.group"
// CHECK:         "tri.transpose"
// CHECK:         "tri.yield"
// CHECK:         "tri.copy"
func.func @keeps_transposition_for_the_host(%x: tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32> {
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %t = "tri.group"(%g) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>):
    %b = "tri.transpose"(%a0) {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
    "tri.yield"(%b) : (tensor<1x4x6x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
  %z = "tri.copy"(%t) {to = "host"} : (tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return %z : tensor<1x4x6x8xf32>
}

// No kernel has made a constant.
// CHECK-LABEL: func.func @keeps_transposition_of_constants
// CHECK:         "tri.group"
// CHECK:         "tri.transpose"
// CHECK:         "tri.yield"
func.func @keeps_transposition_of_constants(%x: tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32> {
  %k = "tri.constant"() {value = dense<1.0> : tensor<1x8x4x6xf32>} : () -> tensor<1x8x4x6xf32>
  %t = "tri.group"(%k) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>):
    %b = "tri.transpose"(%a0) {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
    "tri.yield"(%b) : (tensor<1x4x6x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
  %s = "tri.group"(%t) ({
  ^bb0(%a0: tensor<1x4x6x8xf32>):
    %b = "tri.exp"(%a0) : (tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
    "tri.yield"(%b) : (tensor<1x4x6x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  %z = "tri.copy"(%s) {to = "host"} : (tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return %z : tensor<1x4x6x8xf32>
}

// Weights that others read, too, are row-major.
// CHECK-LABEL: func.func @keeps_weights_of_several_uses
// CHECK:         "tri.weight"() {{.*}} -> tensor<8x8x3x3xf32>
// CHECK-NOT:     [2, 3, 1, 0]
// CHECK:         return
func.func @keeps_weights_of_several_uses(%x: tensor<1x8x4x6xf32>) -> (tensor<8x8x3x3xf32>, tensor<1x8x2x4xf32>) {
  %w = "tri.weight"() {name = "w", type = tensor<8x8x3x3xf32>} : () -> tensor<8x8x3x3xf32>
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %q = "tri.group"(%g, %w) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<8x8x3x3xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x2x4xf32>
    "tri.yield"(%b) : (tensor<1x8x2x4xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x4x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x2x4xf32>
  %r = "tri.group"(%w) ({
  ^bb0(%a0: tensor<8x8x3x3xf32>):
    %b = "tri.exp"(%a0) : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    "tri.yield"(%b) : (tensor<8x8x3x3xf32>) -> ()
  }) {target = "gpu"} : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  %y = "tri.copy"(%r) {to = "host"} : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  %z = "tri.copy"(%q) {to = "host"} : (tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32>
  return %y, %z : tensor<8x8x3x3xf32>, tensor<1x8x2x4xf32>
}

// The CPU has its own ways.
// CHECK-LABEL: func.func @keeps_kernels_of_the_cpu
// CHECK-NOT:     [0, 2, 3, 1]
// CHECK-NOT:     [2, 3, 1, 0]
// CHECK:         return
func.func @keeps_kernels_of_the_cpu(%x: tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<8x8x1x1xf32>} : () -> tensor<8x8x1x1xf32>
  %p = "tri.group"(%x, %w) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>, %a1: tensor<8x8x1x1xf32>):
    %b = "tri.conv"(%a0, %a1) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
    "tri.yield"(%b) : (tensor<1x8x4x6xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x6xf32>
  %q = "tri.group"(%p) ({
  ^bb0(%a0: tensor<1x8x4x6xf32>):
    %b = "tri.transpose"(%a0) {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
    "tri.yield"(%b) : (tensor<1x4x6x8xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
  %z = "tri.group"(%q) ({
  ^bb0(%a0: tensor<1x4x6x8xf32>):
    %b = "tri.exp"(%a0) : (tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
    "tri.yield"(%b) : (tensor<1x4x6x8xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return %z : tensor<1x4x6x8xf32>
}

// Bytes are multiplied along neighbours: input channels, and the depth of a matrix, lie innermost.
// CHECK-LABEL: func.func @puts_inputs_of_bytes_last
// CHECK:         "tri.weight"() {name = "w", type = tensor<32x16x3x3xi8>} : () -> tensor<32x16x3x3xi8, [2, 3, 0, 1]>
// CHECK:         "tri.weight"() {name = "v", type = tensor<64x32xi8>} : () -> tensor<64x32xi8, [1, 0]>
// CHECK:         "tri.weight"() {name = "u", type = tensor<64x32xf16>} : () -> tensor<64x32xf16>
func.func @puts_inputs_of_bytes_last(%x: tensor<1x16x8x8xi8>, %a: tensor<4x64xi8>, %b: tensor<4x64xf16>) -> (tensor<1x32x6x6xi32>, tensor<4x32xi32>, tensor<4x32xf16>) {
  %w = "tri.weight"() {name = "w", type = tensor<32x16x3x3xi8>} : () -> tensor<32x16x3x3xi8>
  %v = "tri.weight"() {name = "v", type = tensor<64x32xi8>} : () -> tensor<64x32xi8>
  %u = "tri.weight"() {name = "u", type = tensor<64x32xf16>} : () -> tensor<64x32xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%p: tensor<1x16x8x8xi8>, %q: tensor<32x16x3x3xi8>):
    %c = "tri.cast"(%p) {to = "i32"} : (tensor<1x16x8x8xi8>) -> tensor<1x16x8x8xi32>
    %d = "tri.cast"(%q) {to = "i32"} : (tensor<32x16x3x3xi8>) -> tensor<32x16x3x3xi32>
    %r = "tri.conv"(%c, %d) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x16x8x8xi32>, tensor<32x16x3x3xi32>) -> tensor<1x32x6x6xi32>
    "tri.yield"(%r) : (tensor<1x32x6x6xi32>) -> ()
  }) {target = "gpu"} : (tensor<1x16x8x8xi8>, tensor<32x16x3x3xi8>) -> tensor<1x32x6x6xi32>
  %z = "tri.group"(%a, %v) ({
  ^bb0(%p: tensor<4x64xi8>, %q: tensor<64x32xi8>):
    %c = "tri.cast"(%p) {to = "i32"} : (tensor<4x64xi8>) -> tensor<4x64xi32>
    %d = "tri.cast"(%q) {to = "i32"} : (tensor<64x32xi8>) -> tensor<64x32xi32>
    %r = "tri.mat_mul"(%c, %d) : (tensor<4x64xi32>, tensor<64x32xi32>) -> tensor<4x32xi32>
    "tri.yield"(%r) : (tensor<4x32xi32>) -> ()
  }) {target = "gpu"} : (tensor<4x64xi8>, tensor<64x32xi8>) -> tensor<4x32xi32>
  %o = "tri.group"(%b, %u) ({
  ^bb0(%p: tensor<4x64xf16>, %q: tensor<64x32xf16>):
    %r = "tri.mat_mul"(%p, %q) : (tensor<4x64xf16>, tensor<64x32xf16>) -> tensor<4x32xf16>
    "tri.yield"(%r) : (tensor<4x32xf16>) -> ()
  }) {target = "gpu"} : (tensor<4x64xf16>, tensor<64x32xf16>) -> tensor<4x32xf16>
  return %y, %z, %o : tensor<1x32x6x6xi32>, tensor<4x32xi32>, tensor<4x32xf16>
}

// What is read transposed is written so: the transposition is a view, and so is what reshapes it.
// CHECK-LABEL: func.func @writes_heads_side_by_side
// CHECK:           "tri.exp"
// CHECK:         %[[Y:.*]] = "tri.transpose"(%{{.*}}) {{.*}} : (tensor<2x4x6x8xf32, [0, 2, 1, 3]>) -> tensor<2x6x4x8xf32>
// CHECK-NEXT:    "tri.reshape"(%[[Y]])
func.func @writes_heads_side_by_side(%x: tensor<2x4x6x8xf32>) -> tensor<12x32xf32> {
  %a = "tri.group"(%x) ({
  ^bb0(%p: tensor<2x4x6x8xf32>):
    %e = "tri.exp"(%p) : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
    "tri.yield"(%e) : (tensor<2x4x6x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %b = "tri.group"(%a) ({
  ^bb0(%p: tensor<2x4x6x8xf32>):
    %t = "tri.transpose"(%p) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    "tri.yield"(%t) : (tensor<2x6x4x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  %y = "tri.reshape"(%b) {shape = array<i64: 12, 32>} : (tensor<2x6x4x8xf32>) -> tensor<12x32xf32>
  return %y : tensor<12x32xf32>
}

// Another reader wants it as it is; and elements that would be written far apart stay together.
// CHECK-LABEL: func.func @keeps_what_is_read_in_two_ways
// CHECK-NOT:     [0, 2, 1, 3]
// CHECK-NOT:     [0, 1, 3, 2]
// CHECK:         return
func.func @keeps_what_is_read_in_two_ways(%x: tensor<2x4x6x8xf32>)
    -> (tensor<2x4x6x8xf32>, tensor<12x32xf32>, tensor<8x48xf32>) {
  %a, %c = "tri.group"(%x) ({
  ^bb0(%p: tensor<2x4x6x8xf32>):
    %e = "tri.exp"(%p) : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
    %n = "tri.neg"(%p) : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
    "tri.yield"(%e, %n) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>)
  %b = "tri.group"(%a) ({
  ^bb0(%p: tensor<2x4x6x8xf32>):
    %t = "tri.transpose"(%p) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    "tri.yield"(%t) : (tensor<2x6x4x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  %d = "tri.group"(%c) ({
  ^bb0(%p: tensor<2x4x6x8xf32>):
    %t = "tri.transpose"(%p) {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x8x6xf32>
    "tri.yield"(%t) : (tensor<2x4x8x6xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x4x6x8xf32>) -> tensor<2x4x8x6xf32>
  %y = "tri.reshape"(%b) {shape = array<i64: 12, 32>} : (tensor<2x6x4x8xf32>) -> tensor<12x32xf32>
  %z = "tri.reshape"(%d) {shape = array<i64: 8, 48>} : (tensor<2x4x8x6xf32>) -> tensor<8x48xf32>
  return %a, %y, %z : tensor<2x4x6x8xf32>, tensor<12x32xf32>, tensor<8x48xf32>
}
