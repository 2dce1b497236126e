// RUN: trivium-opt %s --sink-dequantize | FileCheck %s

// Scales of 0.5 for the input and 0.25 and 2 for the columns make 0.125 and 1.
// CHECK-LABEL: func.func @scales_products
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[A:.*]] = "tri.cast"(%[[X]]) {{.*}} -> tensor<3x2xi32>
// CHECK:         %[[P:.*]] = "tri.mat_mul"(%[[A]], {{.*}}) : (tensor<3x2xi32>, tensor<2x2xi32>) -> tensor<3x2xi32>
// CHECK:         %[[S:.*]] = "tri.constant"() {value = dense<[1.250000e-01, 1.000000e+00]> : tensor<2xf32>}
// CHECK:         %[[F:.*]] = "tri.cast"(%[[P]])
// CHECK:         "tri.mul"(%[[F]], %[[S]])
func.func @scales_products(%x: tensor<3x2xui8>) -> tensor<3x2xf32> {
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "tri.constant"() {value = dense<[[0.25, 2.0]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %v = "tri.constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2xi8>
  %x32 = "tri.cast"(%x) {to = "i32"} : (tensor<3x2xui8>) -> tensor<3x2xi32>
  %xf = "tri.cast"(%x32) {to = "f32"} : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %a = "tri.mul"(%xf, %s) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %v32 = "tri.cast"(%v) {to = "i32"} : (tensor<2x2xi8>) -> tensor<2x2xi32>
  %vf = "tri.cast"(%v32) {to = "f32"} : (tensor<2x2xi32>) -> tensor<2x2xf32>
  %w = "tri.mul"(%vf, %t) : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// Zero points stay with the integers; weights are turned as integers; the bias is not scaled.
// CHECK-LABEL: func.func @scales_linear_layers
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[C:.*]]: {{.*}})
// CHECK:         %[[A:.*]] = "tri.sub"
// CHECK:         %[[T:.*]] = "tri.transpose"
// CHECK:         "tri.mat_mul"(%[[A]], %[[T]]) : (tensor<3x2xi32>, tensor<2x2xi32>)
// CHECK:         %[[M:.*]] = "tri.mul"
// CHECK:         "tri.add"(%[[M]], %[[C]])
func.func @scales_linear_layers(%x: tensor<3x2xui8>, %c: tensor<2xf32>) -> tensor<3x2xf32> {
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "tri.constant"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
  %t = "tri.constant"() {value = dense<[[0.25], [2.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %v = "tri.constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2xi8>
  %x32 = "tri.cast"(%x) {to = "i32"} : (tensor<3x2xui8>) -> tensor<3x2xi32>
  %xz = "tri.sub"(%x32, %z) : (tensor<3x2xi32>, tensor<i32>) -> tensor<3x2xi32>
  %xf = "tri.cast"(%xz) {to = "f32"} : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %a = "tri.mul"(%xf, %s) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %v32 = "tri.cast"(%v) {to = "i32"} : (tensor<2x2xi8>) -> tensor<2x2xi32>
  %vf = "tri.cast"(%v32) {to = "f32"} : (tensor<2x2xi32>) -> tensor<2x2xf32>
  %w = "tri.mul"(%vf, %t) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %y = "tri.gemm"(%a, %w, %c) {trans_b = true} : (tensor<3x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @scales_convolutions
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[C:.*]]: {{.*}})
// CHECK:         %[[P:.*]] = "tri.conv"({{.*}}) {{.*}} : (tensor<1x2x5xi32>, tensor<2x2x1xi32>) -> tensor<1x2x5xi32>
// CHECK:         %[[S:.*]] = "tri.constant"() {value = dense<{{.*}}1.250000e-01{{.*}}1.000000e+00{{.*}}> : tensor<2x1xf32>}
// CHECK:         %[[F:.*]] = "tri.cast"(%[[P]])
// CHECK:         %[[M:.*]] = "tri.mul"(%[[F]], %[[S]])
// CHECK:         %[[B:.*]] = "tri.reshape"(%[[C]]) {shape = array<i64: 2, 1>}
// CHECK:         "tri.add"(%[[M]], %[[B]])
func.func @scales_convolutions(%x: tensor<1x2x5xi8>, %c: tensor<2xf32>) -> tensor<1x2x5xf32> {
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "tri.constant"() {value = dense<[[[0.25]], [[2.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %v = "tri.constant"() {value = dense<[[[1], [2]], [[3], [4]]]> : tensor<2x2x1xi8>} : () -> tensor<2x2x1xi8>
  %x32 = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x5xi8>) -> tensor<1x2x5xi32>
  %xf = "tri.cast"(%x32) {to = "f32"} : (tensor<1x2x5xi32>) -> tensor<1x2x5xf32>
  %a = "tri.mul"(%xf, %s) : (tensor<1x2x5xf32>, tensor<f32>) -> tensor<1x2x5xf32>
  %v32 = "tri.cast"(%v) {to = "i32"} : (tensor<2x2x1xi8>) -> tensor<2x2x1xi32>
  %vf = "tri.cast"(%v32) {to = "f32"} : (tensor<2x2x1xi32>) -> tensor<2x2x1xf32>
  %w = "tri.mul"(%vf, %t) : (tensor<2x2x1xf32>, tensor<2x1x1xf32>) -> tensor<2x2x1xf32>
  %y = "tri.conv"(%a, %w, %c) {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xf32>, tensor<2x2x1xf32>, tensor<2xf32>) -> tensor<1x2x5xf32>
  return %y : tensor<1x2x5xf32>
}

// The scales of rows of weights do not come out of the sum.
// CHECK-LABEL: func.func @keeps_scales_within_a_channel
// CHECK:         "tri.mat_mul"({{.*}}) : (tensor<3x2xf32>
func.func @keeps_scales_within_a_channel(%x: tensor<3x2xui8>) -> tensor<3x2xf32> {
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "tri.constant"() {value = dense<[[0.25], [2.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %v = "tri.constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2xi8>
  %x32 = "tri.cast"(%x) {to = "i32"} : (tensor<3x2xui8>) -> tensor<3x2xi32>
  %xf = "tri.cast"(%x32) {to = "f32"} : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %a = "tri.mul"(%xf, %s) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %v32 = "tri.cast"(%v) {to = "i32"} : (tensor<2x2xi8>) -> tensor<2x2xi32>
  %vf = "tri.cast"(%v32) {to = "f32"} : (tensor<2x2xi32>) -> tensor<2x2xf32>
  %w = "tri.mul"(%vf, %t) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @keeps_several_scales_of_the_input
// CHECK:         "tri.mat_mul"({{.*}}) : (tensor<3x2xf32>
func.func @keeps_several_scales_of_the_input(%x: tensor<3x2xui8>) -> tensor<3x2xf32> {
  %s = "tri.constant"() {value = dense<[0.5, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %t = "tri.constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %v = "tri.constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2xi8>
  %x32 = "tri.cast"(%x) {to = "i32"} : (tensor<3x2xui8>) -> tensor<3x2xi32>
  %xf = "tri.cast"(%x32) {to = "f32"} : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %a = "tri.mul"(%xf, %s) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %v32 = "tri.cast"(%v) {to = "i32"} : (tensor<2x2xi8>) -> tensor<2x2xi32>
  %vf = "tri.cast"(%v32) {to = "f32"} : (tensor<2x2xi32>) -> tensor<2x2xf32>
  %w = "tri.mul"(%vf, %t) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// A zero point of the run time would have to be around an image, too.
// CHECK-LABEL: func.func @keeps_zero_points_of_the_run_time
// CHECK:         "tri.mat_mul"({{.*}}) : (tensor<3x2xf32>
func.func @keeps_zero_points_of_the_run_time(%x: tensor<3x2xui8>, %z: tensor<i32>) -> tensor<3x2xf32> {
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %v = "tri.constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2xi8>
  %x32 = "tri.cast"(%x) {to = "i32"} : (tensor<3x2xui8>) -> tensor<3x2xi32>
  %xz = "tri.sub"(%x32, %z) : (tensor<3x2xi32>, tensor<i32>) -> tensor<3x2xi32>
  %xf = "tri.cast"(%xz) {to = "f32"} : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %a = "tri.mul"(%xf, %s) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %v32 = "tri.cast"(%v) {to = "i32"} : (tensor<2x2xi8>) -> tensor<2x2xi32>
  %vf = "tri.cast"(%v32) {to = "f32"} : (tensor<2x2xi32>) -> tensor<2x2xf32>
  %w = "tri.mul"(%vf, %s) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// Two operands of the run time, as in attention.
// CHECK-LABEL: func.func @keeps_variable_weights
// CHECK:         "tri.mat_mul"({{.*}}) : (tensor<3x2xf32>
func.func @keeps_variable_weights(%x: tensor<3x2xui8>, %v: tensor<2x2xi8>) -> tensor<3x2xf32> {
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %x32 = "tri.cast"(%x) {to = "i32"} : (tensor<3x2xui8>) -> tensor<3x2xi32>
  %xf = "tri.cast"(%x32) {to = "f32"} : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %a = "tri.mul"(%xf, %s) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %v32 = "tri.cast"(%v) {to = "i32"} : (tensor<2x2xi8>) -> tensor<2x2xi32>
  %vf = "tri.cast"(%v32) {to = "f32"} : (tensor<2x2xi32>) -> tensor<2x2xf32>
  %w = "tri.mul"(%vf, %s) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @scales_depthwise_convolutions
// CHECK:         %[[P:.*]] = "tri.conv"({{.*}}) {{.*}}group = 2{{.*}} : (tensor<1x2x5xi32>, tensor<2x1x1xi32>) -> tensor<1x2x5xi32>
// CHECK:         %[[F:.*]] = "tri.cast"(%[[P]])
// CHECK:         "tri.mul"(%[[F]]
func.func @scales_depthwise_convolutions(%x: tensor<1x2x5xi8>) -> tensor<1x2x5xf32> {
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %v = "tri.constant"() {value = dense<[[[1]], [[3]]]> : tensor<2x1x1xi8>} : () -> tensor<2x1x1xi8>
  %x32 = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x5xi8>) -> tensor<1x2x5xi32>
  %xf = "tri.cast"(%x32) {to = "f32"} : (tensor<1x2x5xi32>) -> tensor<1x2x5xf32>
  %a = "tri.mul"(%xf, %s) : (tensor<1x2x5xf32>, tensor<f32>) -> tensor<1x2x5xf32>
  %v32 = "tri.cast"(%v) {to = "i32"} : (tensor<2x1x1xi8>) -> tensor<2x1x1xi32>
  %vf = "tri.cast"(%v32) {to = "f32"} : (tensor<2x1x1xi32>) -> tensor<2x1x1xf32>
  %w = "tri.mul"(%vf, %s) : (tensor<2x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %y = "tri.conv"(%a, %w) {dilations = array<i64: 1>, group = 2, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5xf32>
  return %y : tensor<1x2x5xf32>
}

// Dividing by 2 what was scaled by 0.5, and its bias of 3: 0.25 and 1.5.
// CHECK-LABEL: func.func @divides_scales
// CHECK-SAME:    (%[[P:.*]]: {{.*}}, %[[Q:.*]]: {{.*}})
// CHECK:         %[[F:.*]] = "tri.cast"
// CHECK:         %[[S:.*]] = "tri.constant"() {value = dense<2.500000e-01> : tensor<f32>}
// CHECK:         %[[M:.*]] = "tri.mul"(%[[F]], %[[S]])
// CHECK:         %[[B:.*]] = "tri.constant"() {value = dense<1.500000e+00> : tensor<f32>}
// CHECK:         "tri.add"(%[[M]], %[[B]])
// CHECK-NOT:     "tri.div"
func.func @divides_scales(%p: tensor<3x2xi32>, %q: tensor<2x4xi32>) -> tensor<3x4xf32> {
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %b = "tri.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %c = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %m = "tri.mat_mul"(%p, %q) : (tensor<3x2xi32>, tensor<2x4xi32>) -> tensor<3x4xi32>
  %f = "tri.cast"(%m) {to = "f32"} : (tensor<3x4xi32>) -> tensor<3x4xf32>
  %x = "tri.mul"(%f, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %t = "tri.add"(%x, %b) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = "tri.div"(%t, %c) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// What others use as well is needed undivided; what is no product was not made here.
// CHECK-LABEL: func.func @keeps_divisions
// CHECK:         "tri.div"
// CHECK:         "tri.div"
func.func @keeps_divisions(%p: tensor<3x2xi32>, %q: tensor<2x4xi32>, %m: tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %c = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %n = "tri.mat_mul"(%p, %q) : (tensor<3x2xi32>, tensor<2x4xi32>) -> tensor<3x4xi32>
  %nf = "tri.cast"(%n) {to = "f32"} : (tensor<3x4xi32>) -> tensor<3x4xf32>
  %x = "tri.mul"(%nf, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = "tri.div"(%x, %c) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %mf = "tri.cast"(%m) {to = "f32"} : (tensor<3x4xi32>) -> tensor<3x4xf32>
  %u = "tri.mul"(%mf, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %v = "tri.div"(%u, %c) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  return %x, %y, %v : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}
