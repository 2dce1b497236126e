// RUN: trivium-opt %s --emit=triton | FileCheck %s

// Up to three axes are those of the launch.
// CHECK:      def three(y_ptr):
// CHECK-NEXT:     batch = tl.program_id(0)
// CHECK-NEXT:     head = tl.program_id(1)
// CHECK-NEXT:     row = tl.program_id(2)
"tile.kernel"() ({
^bb0(%y: memref<4x3x5xf32> loc("y")):
  %p0 = "tile.program_id"() {axis = 0 : i64} : () -> tensor<i32> loc("batch")
  %p1 = "tile.program_id"() {axis = 1 : i64} : () -> tensor<i32> loc("head")
  %p2 = "tile.program_id"() {axis = 2 : i64} : () -> tensor<i32> loc("row")
  %one = "tile.full"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  "tile.store"(%one, %y, %p0, %p1, %p2) : (tensor<f32>, memref<4x3x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "three", grid = ["4", "3", "5"]} : () -> ()

// More are computed from the number of the program; the first axis is walked first.
// CHECK:      def four(y_ptr):
// CHECK-NEXT:     program = tl.program_id(0)
// CHECK-NEXT:     batch = program % 2
// CHECK-NEXT:     head = program // 2 % 3
// CHECK-NEXT:     row = program // (2 * 3) % 2
// CHECK-NEXT:     column = program // (2 * 3 * 2)
"tile.kernel"() ({
^bb0(%y: memref<2x3x2x5xf32> loc("y")):
  %p0 = "tile.program_id"() {axis = 0 : i64} : () -> tensor<i32> loc("batch")
  %p1 = "tile.program_id"() {axis = 1 : i64} : () -> tensor<i32> loc("head")
  %p2 = "tile.program_id"() {axis = 2 : i64} : () -> tensor<i32> loc("row")
  %p3 = "tile.program_id"() {axis = 3 : i64} : () -> tensor<i32> loc("column")
  %one = "tile.full"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  "tile.store"(%one, %y, %p0, %p1, %p2, %p3) : (tensor<f32>, memref<2x3x2x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "four", grid = ["2", "3", "2", "5"]} : () -> ()

// In bands, two steps of the first axis are walked before the next one of the second axis.
// CHECK:      def banded(y_ptr):
// CHECK-NEXT:     program = tl.program_id(0)
// CHECK-NEXT:     plane = program % (5 * 3)
// CHECK-NEXT:     planes = program // (5 * 3)
// CHECK-NEXT:     band_start = plane // (2 * 3) * 2
// CHECK-NEXT:     band_height = tl.minimum(5 - band_start, 2)
// CHECK-NEXT:     batch = band_start + plane % (2 * 3) % band_height
// CHECK-NEXT:     head = plane % (2 * 3) // band_height
// CHECK-NEXT:     row = planes
"tile.kernel"() ({
^bb0(%y: memref<5x3x2xf32> loc("y")):
  %p0 = "tile.program_id"() {axis = 0 : i64} : () -> tensor<i32> loc("batch")
  %p1 = "tile.program_id"() {axis = 1 : i64} : () -> tensor<i32> loc("head")
  %p2 = "tile.program_id"() {axis = 2 : i64} : () -> tensor<i32> loc("row")
  %one = "tile.full"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  "tile.store"(%one, %y, %p0, %p1, %p2) : (tensor<f32>, memref<5x3x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "banded", grid = ["5", "3", "2"], group = 2} : () -> ()

// The second axis of a launch ends at 65535.
// CHECK:      def tall(y_ptr):
// CHECK-NEXT:     program = tl.program_id(0)
// CHECK-NEXT:     batch = program % 2
// CHECK-NEXT:     head = program // 2
"tile.kernel"() ({
^bb0(%y: memref<2x70000xf32> loc("y")):
  %p0 = "tile.program_id"() {axis = 0 : i64} : () -> tensor<i32> loc("batch")
  %p1 = "tile.program_id"() {axis = 1 : i64} : () -> tensor<i32> loc("head")
  %one = "tile.full"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  "tile.store"(%one, %y, %p0, %p1) : (tensor<f32>, memref<2x70000xf32>, tensor<i32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "tall", grid = ["2", "70000"]} : () -> ()
