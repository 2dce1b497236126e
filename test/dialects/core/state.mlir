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

// What an input begins with is written beside it; new values that no session binds are updates.
// CHECK-LABEL: func.func @begins(
// CHECK-SAME: trivium.initial = {count = dense<5> : tensor<i64>}
// CHECK-SAME: trivium.updates = {x.next = "x"}
func.func @begins(%x: tensor<i64>, %count: tensor<i64>) -> (tensor<i64>, tensor<i64>) attributes {
  trivium.inputs = ["x", "count"], trivium.outputs = ["x.next", "next"],
  trivium.state = {next = "count"}, trivium.initial = {count = dense<5> : tensor<i64>},
  trivium.updates = {x.next = "x"}
} {
  %y = "tri.add"(%x, %count) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %x, %y : tensor<i64>, tensor<i64>
}
