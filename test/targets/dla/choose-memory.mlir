// RUN: trivium-opt %s --split-input-file --choose-memory | FileCheck %s
// RUN: trivium-opt %s --split-input-file --choose-memory="share=0" | FileCheck %s --check-prefix=NONE

// What one op makes and the next one takes stays in sram; the last result has to leave it.
// CHECK-LABEL: func.func @chain
// CHECK:         %[[A:.*]] = "dla.copy"(%{{.*}}) {{.*}}dla.stays
// CHECK:         "dla.pool"(%[[A]])
// CHECK-NOT:     dla.stays
// CHECK:         return
// NONE-LABEL:  func.func @chain
// NONE-NOT:      dla.stays
func.func @chain(%x: tensor<1x8x8x32xi8>) -> tensor<1x4x4x32xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x8x32xi8>):
    %0 = "dla.copy"(%a) : (tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xi8>
    %1 = "dla.pool"(%0) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x8x32xi8>) -> tensor<1x4x4x32xi8>
    "tri.yield"(%1) : (tensor<1x4x4x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x32xi8>) -> tensor<1x4x4x32xi8>
  return %y : tensor<1x4x4x32xi8>
}

// -----

// An input that is used twice stays, too: it is loaded once.
// CHECK-LABEL: func.func @used_twice
// CHECK:         "dla.eltwise"
// CHECK:         {dla.stays = array<i64: 0>, target = "vanilla"}
func.func @used_twice(%x: tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x8x32xi8>):
    %0 = "dla.copy"(%a) : (tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xi8>
    %1 = "dla.eltwise"(%0, %a) {operator = "max"} : (tensor<1x8x8x32xi8>, tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xi8>
    "tri.yield"(%1) : (tensor<1x8x8x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xi8>
  return %y : tensor<1x8x8x32xi8>
}

// -----

// What is larger than sram, 256 KiB, does not stay.
// CHECK-LABEL: func.func @too_large
// CHECK-NOT:     dla.stays
func.func @too_large(%x: tensor<1x96x96x32xi8>) -> tensor<1x48x48x32xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x96x96x32xi8>):
    %0 = "dla.copy"(%a) : (tensor<1x96x96x32xi8>) -> tensor<1x96x96x32xi8>
    %1 = "dla.pool"(%0) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x96x96x32xi8>) -> tensor<1x48x48x32xi8>
    "tri.yield"(%1) : (tensor<1x48x48x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x96x96x32xi8>) -> tensor<1x48x48x32xi8>
  return %y : tensor<1x48x48x32xi8>
}
