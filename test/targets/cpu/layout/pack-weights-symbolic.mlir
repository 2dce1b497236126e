// RUN: trivium-opt %s --pack-weights=machine=x86-64-v4 | FileCheck %s

// A number of rows that changes is likely 1, but the panel is one that serves more of them: a tile
// is as high as the registers allow.
// CHECK-LABEL: func.func @serves_any_number_of_rows
// CHECK:         "tri.weight"() {{.*}} -> tensor<2x64x64xf32>
// CHECK:         "cpu.packed_mat_mul"({{.*}}) {columns = 128 : i64, rows = 6 : i64}
func.func @serves_any_number_of_rows(%x: tensor<?x64xf32, ["N", ""]>) -> tensor<?x128xf32, ["N", ""]>
    attributes {trivium.symbols = {N = "1..:1"}} {
  %w = "tri.constant"() {value = dense<0.5> : tensor<64x128xf32>} : () -> tensor<64x128xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<?x64xf32, ["N", ""]>, tensor<64x128xf32>) -> tensor<?x128xf32, ["N", ""]>
  return %y : tensor<?x128xf32, ["N", ""]>
}

// One row has all registers for its columns.
// CHECK-LABEL: func.func @serves_one_row
// CHECK:         "tri.weight"() {{.*}} -> tensor<1x64x128xf32>
// CHECK:         "cpu.packed_mat_mul"({{.*}}) {columns = 128 : i64, rows = 1 : i64}
func.func @serves_one_row(%x: tensor<1x64xf32>) -> tensor<1x128xf32> {
  %w = "tri.constant"() {value = dense<0.5> : tensor<64x128xf32>} : () -> tensor<64x128xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  return %y : tensor<1x128xf32>
}
