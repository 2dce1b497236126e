// RUN: trivium-opt %s | FileCheck %s

// One tile of indices for each dimension; they broadcast to the shape of what is loaded.
// CHECK-LABEL: func.func @load
// CHECK-SAME:    (%[[X:.*]]: memref<8x64xf32>, %[[ROWS:.*]]: {{.*}}, %[[COLUMNS:.*]]: {{.*}})
// CHECK:         "tile.load"(%[[X]], %[[ROWS]], %[[COLUMNS]]) {high = array<i64: 0, 1>, low = array<i64: 1>, pad = -1.000000e+00 : f64}
// CHECK-SAME:      : (memref<8x64xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x16xi32>) -> tensor<?x16xf32, ["BM", ""]>
func.func @load(%x: memref<8x64xf32>, %rows: tensor<?x1xi32, ["BM", ""]>, %columns: tensor<1x16xi32>) {
  %a = "tile.load"(%x, %rows, %columns) {low = array<i64: 1>, high = array<i64: 0, 1>, pad = -1.0 : f64}
      : (memref<8x64xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x16xi32>) -> tensor<?x16xf32, ["BM", ""]>
  return
}

// A scalar in memory has no dimensions, and needs no index.
// CHECK-LABEL: func.func @load_scalar
// CHECK:         "tile.load"(%{{.*}}) : (memref<i8>) -> tensor<i8>
func.func @load_scalar(%x: memref<i8>) {
  %a = "tile.load"(%x) : (memref<i8>) -> tensor<i8>
  return
}

// A value broadcasts to the indices that it is stored at.
// CHECK-LABEL: func.func @store
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[Y:.*]]: {{.*}}, %[[ROWS:.*]]: {{.*}}, %[[COLUMNS:.*]]: {{.*}})
// CHECK:         "tile.store"(%[[A]], %[[Y]], %[[ROWS]], %[[COLUMNS]]) {accumulate = true, high = array<i64: 0>}
// CHECK-SAME:      : (tensor<1x16xf32>, memref<8x16xf32, strided<[1, 8]>>, tensor<?x1xi32, ["BM", ""]>, tensor<16xi32>) -> ()
func.func @store(%a: tensor<1x16xf32>, %y: memref<8x16xf32, strided<[1, 8]>>, %rows: tensor<?x1xi32, ["BM", ""]>, %columns: tensor<16xi32>) {
  "tile.store"(%a, %y, %rows, %columns) {high = array<i64: 0>, accumulate = true}
      : (tensor<1x16xf32>, memref<8x16xf32, strided<[1, 8]>>, tensor<?x1xi32, ["BM", ""]>, tensor<16xi32>) -> ()
  return
}

// A block begins at an offset in each dimension.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[Y:.*]]: {{.*}}, %[[ROW:.*]]: {{.*}}, %[[COLUMN:.*]]: {{.*}})
// CHECK:         %[[A:.*]] = "tile.load_block"(%[[X]], %[[ROW]], %[[COLUMN]]) {block = ["BM", "16"]}
// CHECK-SAME:      -> tensor<?x16xf16, ["BM", ""]>
// CHECK:         "tile.store_block"(%[[A]], %[[Y]], %[[ROW]], %[[COLUMN]])
func.func @blocks(%x: memref<8x64xf16, strided<[100, 1]>>, %y: memref<8x64xf16>, %row: tensor<i32>, %column: tensor<i32>) {
  %a = "tile.load_block"(%x, %row, %column) {block = ["BM", "16"]}
      : (memref<8x64xf16, strided<[100, 1]>>, tensor<i32>, tensor<i32>) -> tensor<?x16xf16, ["BM", ""]>
  "tile.store_block"(%a, %y, %row, %column) : (tensor<?x16xf16, ["BM", ""]>, memref<8x64xf16>, tensor<i32>, tensor<i32>) -> ()
  return
}

// Views have their own shape, in row-major order or with strides.
// CHECK-LABEL: func.func @views
// CHECK-SAME:    (%[[X:.*]]: memref<8x64xf32>)
// CHECK:         "tile.view"(%[[X]]) {shape = array<i64: 512>} : (memref<8x64xf32>) -> memref<512xf32>
// CHECK:         "tile.view"(%[[X]]) {shape = array<i64: 64, 8>, strides = array<i64: 1, 64>}
// CHECK-SAME:      -> memref<64x8xf32, strided<[1, 64]>>
// CHECK:         "tile.view"(%[[X]]) {{.*}} -> memref<3x64xf32, strided<[0, 1]>>
func.func @views(%x: memref<8x64xf32>) {
  %a = "tile.view"(%x) {shape = array<i64: 512>} : (memref<8x64xf32>) -> memref<512xf32>
  %b = "tile.view"(%x) {shape = array<i64: 64, 8>, strides = array<i64: 1, 64>} : (memref<8x64xf32>) -> memref<64x8xf32, strided<[1, 64]>>
  %c = "tile.view"(%x) {shape = array<i64: 3, 64>, strides = array<i64: 0, 1>} : (memref<8x64xf32>) -> memref<3x64xf32, strided<[0, 1]>>
  return
}

// Floats of 8 bits are loaded, beyond the bounds as zeros, and cast. They are stored as their bits.
// CHECK-LABEL: func.func @load_floats_of_8_bits
// CHECK:         %[[X:.*]] = "tile.load"(%{{.*}}, %{{.*}}) {high = array<i64: 0>} : (memref<8xf8E5M2>, tensor<4xi32>) -> tensor<4xf8E5M2>
// CHECK:         "tile.cast"(%[[X]]) {to = "f32"} : (tensor<4xf8E5M2>) -> tensor<4xf32>
// CHECK:         %[[Y:.*]] = "tile.bit_cast"(%{{.*}}) {to = "f8E5M2"} : (tensor<4xui8>) -> tensor<4xf8E5M2>
// CHECK:         "tile.store"(%[[Y]], %arg0, %arg1)
func.func @load_floats_of_8_bits(%x: memref<8xf8E5M2>, %i: tensor<4xi32>) {
  %a = "tile.load"(%x, %i) {high = array<i64: 0>} : (memref<8xf8E5M2>, tensor<4xi32>) -> tensor<4xf8E5M2>
  %b = "tile.cast"(%a) {to = "f32"} : (tensor<4xf8E5M2>) -> tensor<4xf32>
  %c = "tile.cast"(%b) {to = "ui8"} : (tensor<4xf32>) -> tensor<4xui8>
  %d = "tile.bit_cast"(%c) {to = "f8E5M2"} : (tensor<4xui8>) -> tensor<4xf8E5M2>
  "tile.store"(%d, %x, %i) : (tensor<4xf8E5M2>, memref<8xf8E5M2>, tensor<4xi32>) -> ()
  return
}
