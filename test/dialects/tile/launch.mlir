// RUN: trivium-opt %s | FileCheck %s

// A kernel of eight elements is called on eight elements of any shape, in any order in memory.
// CHECK-LABEL: func.func @launch
// CHECK-SAME:    (%[[X:.*]]: tensor<2x4xf32>)
// CHECK:         %[[Y:.*]] = "tile.launch"(%[[X]]) {kernel = "copy"} : (tensor<2x4xf32>) -> tensor<2x4xf32, [1, 0]>
// CHECK:         "tile.launch"(%[[Y]]) {kernel = "copy"} : (tensor<2x4xf32, [1, 0]>) -> tensor<8xf32>
func.func @launch(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %y = "tile.launch"(%x) {kernel = "copy"} : (tensor<2x4xf32>) -> tensor<2x4xf32, [1, 0]>
  %z = "tile.launch"(%y) {kernel = "copy"} : (tensor<2x4xf32, [1, 0]>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}

"tile.kernel"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %i = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  %a = "tile.load"(%x, %i) : (memref<8xf32>, tensor<i32>) -> tensor<f32>
  "tile.store"(%a, %y, %i) : (tensor<f32>, memref<8xf32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "copy", grid = ["8"]} : () -> ()
