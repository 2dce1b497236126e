// RUN: trivium-opt %s --lower-to-buffers | FileCheck %s

// Programs come first, in the order of the groups; the calls stand where the groups were.
// What stays is written and read in place: one load, one store.
// CHECK:       "dla.program"
// CHECK:       ^bb0(%[[X:.*]]: memref<1x8x8x16xi8, "dram.inputs">, %[[Y:.*]]: memref<1x4x4x16xi8, "dram.outputs">):
// CHECK:         %[[A:.*]] = "dla.alloc"() : () -> memref<1x8x8x16xi8, "sram">
// CHECK:         %[[T:.*]] = "dla.alloc"() : () -> memref<1x8x8x16xi8, "sram">
// CHECK-NEXT:    "dla.load"(%[[X]], %[[T]]) {channels = 3
// CHECK-NEXT:    "dla.copy_tile"(%[[T]], %[[A]])
// CHECK-NEXT:    %[[B:.*]] = "dla.alloc"() : () -> memref<1x4x4x16xi8, "sram">
// CHECK-NEXT:    "dla.pool_tile"(%[[A]], %[[B]])
// CHECK-NEXT:    "dla.store"(%[[B]], %[[Y]])
// CHECK-NEXT:    "dla.end"
// CHECK:         sym_name = "vanilla_0"
// CHECK:         sym_name = "vanilla_1"
// CHECK-LABEL: func.func @stays
// CHECK:         "dla.run"(%{{.*}}) {program = "vanilla_0"}
// CHECK-NOT:     tri.group
func.func @stays(%x: tensor<1x8x8x3xi8>) -> (tensor<1x4x4x3xi8>, tensor<1x8x8x3xi8>) {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x8x3xi8>):
    %0 = "dla.copy"(%a) {dla.resident} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    %1 = "dla.pool"(%0) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x8x3xi8>) -> tensor<1x4x4x3xi8>
    "tri.yield"(%1) : (tensor<1x4x4x3xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x3xi8>) -> tensor<1x4x4x3xi8>
  %z = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x8x3xi8>):
    %0 = "dla.copy"(%a) : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    "tri.yield"(%0) : (tensor<1x8x8x3xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
  return %y, %z : tensor<1x4x4x3xi8>, tensor<1x8x8x3xi8>
}
