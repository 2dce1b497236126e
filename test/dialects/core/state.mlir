// RUN: trivium-opt %s | trivium-opt | FileCheck %s

// An output may become an input of the next run.
// CHECK-LABEL: func.func @counts(
// CHECK-SAME: trivium.state = {next = "count"}
func.func @counts(%x: tensor<i64>, %count: tensor<i64>) -> (tensor<i64>, tensor<i64>) attributes {
  trivium.inputs = ["x", "count"], trivium.outputs = ["y", "next"],
  trivium.state = {next = "count"}
} {
  %y = "tri.add"(%x, %count) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %x, %y : tensor<i64>, tensor<i64>
}
