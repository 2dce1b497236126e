// RUN: trivium-opt %s --split-input-file --lower-to-tile | FileCheck %s

// The elements of a row are neighbours in the table and in the result; a place counts from
// either end.
// CHECK-LABEL: func.func @gathers_rows
// CHECK:         %[[WIDE:.*]] = "tile.load"({{.*}}) {{.*}} -> tensor<?xi64, ["BLOCK"]>
// CHECK:         "tile.where"({{.*}}, {{.*}}, %[[WIDE]])
// CHECK:         %[[PLACE:.*]] = "tile.cast"({{.*}}) {to = "i32"}
// CHECK-NEXT:    "tile.load"(%{{.*}}, %[[PLACE]], %{{.*}}) {{.*}} -> tensor<?xf16, ["BLOCK"]>
func.func @gathers_rows(%x: tensor<1000x768xf16>, %i: tensor<2x128xi64>) -> tensor<2x128x768xf16> {
  %y = "tri.group"(%x, %i) ({
  ^bb0(%xi: tensor<1000x768xf16>, %ii: tensor<2x128xi64>):
    %r = "tri.gather"(%xi, %ii) {axis = 0 : i64} : (tensor<1000x768xf16>, tensor<2x128xi64>) -> tensor<2x128x768xf16>
    "tri.yield"(%r) : (tensor<2x128x768xf16>) -> ()
  }) {target = "gpu"} : (tensor<1000x768xf16>, tensor<2x128xi64>) -> tensor<2x128x768xf16>
  return %y : tensor<2x128x768xf16>
}
