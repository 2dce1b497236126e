// RUN: trivium-opt %s | FileCheck %s

// All parameters have defaults, which are left out.
// CHECK-LABEL: func.func @with_defaults
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.relu"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.leaky_relu"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.thresholded_relu"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.elu"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.celu"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.selu"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.gelu"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.sigmoid"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.hard_sigmoid"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.silu"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.swish"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.hardswish"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.softplus"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.softsign"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.mish"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.shrink"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.clip"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @with_defaults(%x: tensor<2x3xf32>) {
  %0 = "tri.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "tri.leaky_relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "tri.thresholded_relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "tri.elu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = "tri.celu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = "tri.selu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = "tri.gelu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = "tri.sigmoid"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = "tri.hard_sigmoid"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = "tri.silu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = "tri.swish"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = "tri.hardswish"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = "tri.softplus"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %13 = "tri.softsign"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %14 = "tri.mish"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %15 = "tri.shrink"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %16 = "tri.clip"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Integers can be rectified.
// CHECK-LABEL: func.func @of_integers
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.relu"(%[[X]]) : (tensor<4xi32>) -> tensor<4xi32>
func.func @of_integers(%x: tensor<4xi32>) {
  %0 = "tri.relu"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// CHECK-LABEL: func.func @leaky_relu
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.leaky_relu"(%[[X]]) {alpha = 2.500000e-01 : f64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @leaky_relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.leaky_relu"(%x) {alpha = 2.500000e-01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @thresholded_relu
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.thresholded_relu"(%[[X]]) {alpha = 2.000000e+00 : f64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @thresholded_relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.thresholded_relu"(%x) {alpha = 2.000000e+00 : f64}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @elu
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.elu"(%[[X]]) {alpha = 2.000000e+00 : f64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @elu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.elu"(%x) {alpha = 2.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @celu
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.celu"(%[[X]]) {alpha = 2.000000e+00 : f64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @celu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.celu"(%x) {alpha = 2.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @selu
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.selu"(%[[X]]) {alpha = 2.000000e+00 : f64, gamma = 3.000000e+00 : f64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @selu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.selu"(%x) {alpha = 2.000000e+00 : f64, gamma = 3.000000e+00 : f64}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @gelu
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.gelu"(%[[X]]) {approximate = "tanh"}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @gelu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.gelu"(%x) {approximate = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @hard_sigmoid
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.hard_sigmoid"(%[[X]]) {alpha = 1.250000e-01 : f64, beta = 2.500000e-01 : f64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @hard_sigmoid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.hard_sigmoid"(%x) {alpha = 1.250000e-01 : f64, beta = 2.500000e-01 : f64}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @swish
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.swish"(%[[X]]) {alpha = 2.000000e+00 : f64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @swish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.swish"(%x) {alpha = 2.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @shrink
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.shrink"(%[[X]]) {bias = 5.000000e-01 : f64, threshold = 1.500000e+00 : f64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @shrink(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.shrink"(%x) {bias = 5.000000e-01 : f64, threshold = 1.500000e+00 : f64}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @clip
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.clip"(%[[X]]) {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @clip(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.clip"(%x) {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// A slope broadcasts to the input.
// CHECK-LABEL: func.func @prelu
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[SLOPE:.*]]: {{.*}})
// CHECK:         "tri.prelu"(%[[X]], %[[SLOPE]])
// CHECK-SAME:      : (tensor<1x4x3xf32>, tensor<4x1xf32>) -> tensor<1x4x3xf32>
func.func @prelu(%x: tensor<1x4x3xf32>, %slope: tensor<4x1xf32>) -> tensor<1x4x3xf32> {
  %0 = "tri.prelu"(%x, %slope) : (tensor<1x4x3xf32>, tensor<4x1xf32>) -> tensor<1x4x3xf32>
  return %0 : tensor<1x4x3xf32>
}
