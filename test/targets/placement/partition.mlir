// RUN: trivium-opt %s --split-input-file --partition="targets=gpu,cpu,host" | FileCheck %s
// RUN: trivium-opt %s --split-input-file --partition="targets=cpu,host" | FileCheck %s --check-prefix=CPU

// What the first target refuses goes to the next one, as the model has it.
// CHECK-LABEL: func.func @divides_by_target
// CHECK:         %[[R:.*]] = "tri.part"(%{{.*}}) ({
// CHECK:           "tri.relu"
// CHECK:         }) {target = "gpu"}
// CHECK:         %[[D:.*]] = "tri.part"(%[[R]]) ({
// CHECK:           "tri.couple_pairs"
// CHECK:         }) {target = "host"}
// CHECK:         %[[E:.*]] = "tri.part"(%[[D]]) ({
// CHECK:           "tri.exp"
// CHECK:         }) {target = "gpu"}
// CHECK:         return %[[E]]
// CPU-LABEL: func.func @divides_by_target
func.func @divides_by_target(%x: tensor<5x3x3xf32>) -> tensor<5x3xf32> {
  %0 = "tri.relu"(%x) : (tensor<5x3x3xf32>) -> tensor<5x3x3xf32>
  %1 = "tri.couple_pairs"(%0) : (tensor<5x3x3xf32>) -> tensor<5x3xf32>
  %2 = "tri.exp"(%1) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}

// -----

// Two ops of one target with an op of another between them are two parts: one would depend on itself.
// CPU-LABEL: func.func @keeps_a_function_of_one_target
// CPU-SAME:    attributes {trivium.target = "cpu"}
// CPU-NOT:     tri.part
// CPU:         return
// CHECK-LABEL: func.func @keeps_a_function_of_one_target
// CHECK-SAME:    attributes {trivium.target = "gpu"}
func.func @keeps_a_function_of_one_target(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tri.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tri.exp"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Constants are copied to each part that reads them.
// CHECK-LABEL: func.func @copies_constants
// CHECK-NOT:     tri.constant
// CHECK:         "tri.part"
// CHECK:           "tri.constant"
// CHECK:         "tri.part"
// CHECK:           "tri.constant"
// CPU-LABEL: func.func @copies_constants
func.func @copies_constants(%x: tensor<1x3x3xf32>) -> (tensor<1x3x3xf32>, tensor<1x3x3xf32>) {
  %c = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tri.mul"(%x, %c) : (tensor<1x3x3xf32>, tensor<f32>) -> tensor<1x3x3xf32>
  %1 = "tri.couple_pairs"(%0) : (tensor<1x3x3xf32>) -> tensor<1x3xf32>
  %2 = "tri.add"(%0, %1) : (tensor<1x3x3xf32>, tensor<1x3xf32>) -> tensor<1x3x3xf32>
  %3 = "tri.mul"(%2, %c) : (tensor<1x3x3xf32>, tensor<f32>) -> tensor<1x3x3xf32>
  return %0, %3 : tensor<1x3x3xf32>, tensor<1x3x3xf32>
}

// -----

// What needs a size comes behind the part that finds it, though it reads nothing of that part.
// CPU-LABEL: func.func @waits_for_sizes
// CPU:         "tri.part"(%{{.*}}) ({
// CPU:           "tri.define_sizes"
// CPU:         }) {target = "host"}
// CPU:         %[[Y:.*]] = "tri.part"(%{{.*}}) ({
// CPU:           "tri.expand"
// CPU:         }) {target = "cpu"}
// CPU:         return %[[Y]]
// CHECK-LABEL: func.func @waits_for_sizes
func.func @waits_for_sizes(%n: tensor<i64>, %x: tensor<1xf32>) -> tensor<?xf32, ["u0"]> attributes {
    trivium.symbols = {u0 = "0.."}} {
  %0 = "tri.define_sizes"(%n) {sizes = ["u0"]} : (tensor<i64>) -> tensor<i64>
  %1 = "tri.expand"(%x) {shape = ["u0"]} : (tensor<1xf32>) -> tensor<?xf32, ["u0"]>
  return %1 : tensor<?xf32, ["u0"]>
}
