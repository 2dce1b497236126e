// RUN: trivium-opt %s --eliminate --debug=eliminate 2>&1 | FileCheck %s

// Why an op stays is said where it stands.
// CHECK:       debug.mlir:[[# @LINE + 2]]:8: remark: {{.*}}tri.reshape: changes the type from tensor<4xf32> to tensor<2x2xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = "tri.reshape"(%x) {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
