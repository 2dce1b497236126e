// RUN: trivium-opt %s | FileCheck %s

// Functions of floats keep the type.
// CHECK-LABEL: func.func @of_floats
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.abs"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.neg"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.sign"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.exp"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.expm1"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.log"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.log1p"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.lgamma"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.sqrt"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.rsqrt"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.reciprocal"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.sin"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.cos"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.tan"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.asin"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.acos"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.atan"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.sinh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.cosh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.tanh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.asinh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.acosh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.atanh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.erf"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.floor"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.ceil"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.round"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         "tri.trunc"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @of_floats(%x: tensor<2x3xf32>) {
  %0 = "tri.abs"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "tri.neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "tri.sign"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "tri.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = "tri.expm1"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = "tri.log"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = "tri.log1p"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = "tri.lgamma"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = "tri.sqrt"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = "tri.rsqrt"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = "tri.reciprocal"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = "tri.sin"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = "tri.cos"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %13 = "tri.tan"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %14 = "tri.asin"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %15 = "tri.acos"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %16 = "tri.atan"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %17 = "tri.sinh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %18 = "tri.cosh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %19 = "tri.tanh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %20 = "tri.asinh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %21 = "tri.acosh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %22 = "tri.atanh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %23 = "tri.erf"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %24 = "tri.floor"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %25 = "tri.ceil"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %26 = "tri.round"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %27 = "tri.trunc"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// So do those that integers have, too.
// CHECK-LABEL: func.func @of_integers
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.abs"(%[[X]]) : (tensor<4xi8>) -> tensor<4xi8>
// CHECK:         "tri.neg"(%[[X]]) : (tensor<4xi8>) -> tensor<4xi8>
// CHECK:         "tri.sign"(%[[X]]) : (tensor<4xi8>) -> tensor<4xi8>
// CHECK:         "tri.bitwise_not"(%[[X]]) : (tensor<4xi8>) -> tensor<4xi8>
func.func @of_integers(%x: tensor<4xi8>) {
  %0 = "tri.abs"(%x) : (tensor<4xi8>) -> tensor<4xi8>
  %1 = "tri.neg"(%x) : (tensor<4xi8>) -> tensor<4xi8>
  %2 = "tri.sign"(%x) : (tensor<4xi8>) -> tensor<4xi8>
  %3 = "tri.bitwise_not"(%x) : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// And logic.
// CHECK-LABEL: func.func @of_bools
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.not"(%[[X]]) : (tensor<4xi1>) -> tensor<4xi1>
func.func @of_bools(%x: tensor<4xi1>) {
  %0 = "tri.not"(%x) : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// Questions are answered by bools.
// CHECK-LABEL: func.func @questions
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.is_nan"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xi1>
// CHECK:         "tri.is_inf"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xi1>
func.func @questions(%x: tensor<2x3xf32>) {
  %0 = "tri.is_nan"(%x) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = "tri.is_inf"(%x) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

// Of the two infinities, one may be meant.
// CHECK-LABEL: func.func @one_infinity
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.is_inf"(%[[X]]) {detect_negative = false, detect_positive = true}
// CHECK-SAME:      : (tensor<2xf16>) -> tensor<2xi1>
func.func @one_infinity(%x: tensor<2xf16>) -> tensor<2xi1> {
  %0 = "tri.is_inf"(%x) {detect_negative = false, detect_positive = true}
      : (tensor<2xf16>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
