// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64-v3 | FileCheck %s

// Sizes that depend on symbols come from the record, the last argument; groups say what is in it.
// CHECK-LABEL: func.func @reads_sizes_from_its_record
// CHECK:       cpu.kernel = "kernel_0", cpu.record = ["H//4"]
// CHECK:       module @kernel_0 attributes {{.*}}cpu.words = 1 : i64}
// CHECK:         func.func @kernel_0({{.*}}, %[[X:.*]]: memref<1099511627776xf32>, %[[Y:.*]]: memref<1099511627776xf32>, %{{.*}}: memref<8xf32>, %[[RECORD:.*]]: memref<1xi64>)
// CHECK:           memref.load %[[RECORD]]
// CHECK:           scf.for
// CHECK:             vector.load %[[X]]
// CHECK:           } {trivium.group = 0 : i64, trivium.spread = 1 : i64, trivium.trips = "_0"}
func.func @reads_sizes_from_its_record(%x: tensor<?x8xf32, ["H//4", ""]>) -> tensor<?x8xf32, ["H//4", ""]> attributes {trivium.symbols = {H = "4..400:400"}} {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<?x8xf32, ["H//4", ""]>):
    %s = "tri.softmax"(%xi) {axis = 1 : i64} : (tensor<?x8xf32, ["H//4", ""]>) -> tensor<?x8xf32, ["H//4", ""]>
    "tri.yield"(%s) : (tensor<?x8xf32, ["H//4", ""]>) -> ()
  }) {target = "cpu"} : (tensor<?x8xf32, ["H//4", ""]>) -> tensor<?x8xf32, ["H//4", ""]>
  return %y : tensor<?x8xf32, ["H//4", ""]>
}

// -----

// A kernel without symbols has no record.
// CHECK-LABEL: func.func @keeps_known_sizes_in_the_code
// CHECK-NOT:   cpu.record
// CHECK-NOT:   cpu.words
// CHECK:         func.func @kernel_0({{.*}}, %{{.*}}: memref<32xf32>, %{{.*}}: memref<32xf32>, %{{.*}}: memref<8xf32>)
// CHECK-NOT:   trivium.trips
func.func @keeps_known_sizes_in_the_code(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<4x8xf32>):
    %s = "tri.softmax"(%xi) {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "tri.yield"(%s) : (tensor<4x8xf32>) -> ()
  }) {target = "cpu"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Rows of a product are cut into tiles when the kernel runs: there is code for 6 rows, and for 3 to 1.
// CHECK-LABEL: func.func @chooses_the_height_of_tiles
// CHECK:       module @kernel_0
// CHECK:         %[[HEIGHT:.*]] = arith.select
// CHECK:         %[[THREE:.*]] = arith.constant 3 : index
// CHECK:         %[[IS_THREE:.*]] = arith.cmpi eq, %[[HEIGHT]], %[[THREE]]
// CHECK:         scf.if %[[IS_THREE]]
// CHECK:         } else {
// CHECK:           %[[TWO:.*]] = arith.constant 2 : index
// CHECK:           arith.cmpi eq, %[[HEIGHT]], %[[TWO]]
func.func @chooses_the_height_of_tiles(%x: tensor<?x3xf32, ["T", ""]>, %w: tensor<3x16xf32>) -> tensor<?x16xf32, ["T", ""]> attributes {trivium.symbols = {T = "1.."}} {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%xi: tensor<?x3xf32, ["T", ""]>, %wi: tensor<3x16xf32>):
    %s = "tri.mat_mul"(%xi, %wi) : (tensor<?x3xf32, ["T", ""]>, tensor<3x16xf32>) -> tensor<?x16xf32, ["T", ""]>
    "tri.yield"(%s) : (tensor<?x16xf32, ["T", ""]>) -> ()
  }) {target = "cpu"} : (tensor<?x3xf32, ["T", ""]>, tensor<3x16xf32>) -> tensor<?x16xf32, ["T", ""]>
  return %y : tensor<?x16xf32, ["T", ""]>
}
