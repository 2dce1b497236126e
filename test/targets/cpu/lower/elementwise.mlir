// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64-v3 | FileCheck %s
// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64 | FileCheck %s --check-prefix=NARROW
// RUN: trivium-opt %s --split-input-file '--lower-to-kernels=machine=x86-64-v3 strict' | FileCheck %s --check-prefix=STRICT

// One loop computes both ops: a vector of eight elements is stored where a machine has AVX.
// CHECK-LABEL: func.func @adds_and_clamps
// CHECK:         cpu.kernel = "kernel_0"
// CHECK:       module @kernel_0 attributes {cpu.private = array<i64>, cpu.scratch = []}
// CHECK:         func.func @kernel_0(%[[PHASE:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<64xf32>, %[[Z:.*]]: memref<64xf32>, %[[Y:.*]]: memref<64xf32>)
// CHECK:           scf.for
// CHECK:             %[[A:.*]] = vector.load %[[X]][{{.*}}] : memref<64xf32>, vector<8xf32>
// CHECK:             %[[B:.*]] = vector.load %[[Z]][{{.*}}] : memref<64xf32>, vector<8xf32>
// CHECK:             %[[SUM:.*]] = arith.addf %[[A]], %[[B]] fastmath<contract> : vector<8xf32>
// CHECK:             %[[NEGATIVE:.*]] = arith.cmpf olt, %[[SUM]], %[[ZERO:.*]] : vector<8xf32>
// CHECK:             %[[CLAMPED:.*]] = arith.select %[[NEGATIVE]], %[[ZERO]], %[[SUM]]
// CHECK:             vector.store %[[CLAMPED]], %[[Y]][{{.*}}] : memref<64xf32>, vector<8xf32>
// CHECK-NOT:       scf.for
// CHECK:           return
// NARROW-LABEL: func.func @adds_and_clamps
// NARROW:         vector.load {{.*}} : memref<64xf32>, vector<4xf32>
// STRICT-LABEL: func.func @adds_and_clamps
// STRICT-NOT:     fastmath<contract>
func.func @adds_and_clamps(%x: tensor<64xf32>, %z: tensor<64xf32>) -> tensor<64xf32> {
  %y = "tri.group"(%x, %z) ({
  ^bb0(%xi: tensor<64xf32>, %zi: tensor<64xf32>):
    %s = "tri.add"(%xi, %zi) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %r = "tri.relu"(%s) : (tensor<64xf32>) -> tensor<64xf32>
    "tri.yield"(%r) : (tensor<64xf32>) -> ()
  }) {target = "cpu"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// Groups of equal structure have one kernel, whatever they read.
// CHECK-LABEL: func.func @shares_a_kernel
// CHECK:         cpu.kernel = "kernel_0"
// CHECK:         cpu.kernel = "kernel_0"
// CHECK:         cpu.kernel = "kernel_1"
// CHECK:       module @kernel_0
// CHECK:       module @kernel_1
// CHECK-NOT:   module @
func.func @shares_a_kernel(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = "tri.group"(%x) ({
  ^bb0(%i: tensor<8xf32>):
    %r = "tri.abs"(%i) : (tensor<8xf32>) -> tensor<8xf32>
    "tri.yield"(%r) : (tensor<8xf32>) -> ()
  }) {target = "cpu"} : (tensor<8xf32>) -> tensor<8xf32>
  %b = "tri.group"(%a) ({
  ^bb0(%i: tensor<8xf32>):
    %r = "tri.abs"(%i) : (tensor<8xf32>) -> tensor<8xf32>
    "tri.yield"(%r) : (tensor<8xf32>) -> ()
  }) {target = "cpu"} : (tensor<8xf32>) -> tensor<8xf32>
  %c = "tri.group"(%a) ({
  ^bb0(%i: tensor<8xf32>):
    %r = "tri.neg"(%i) : (tensor<8xf32>) -> tensor<8xf32>
    "tri.yield"(%r) : (tensor<8xf32>) -> ()
  }) {target = "cpu"} : (tensor<8xf32>) -> tensor<8xf32>
  return %b, %c : tensor<8xf32>, tensor<8xf32>
}

// -----

// Groups of other targets and groups that are not placed have no kernel.
// CHECK-LABEL: func.func @keeps_groups_of_other_targets
// CHECK-NOT:     cpu.kernel
// CHECK-NOT:   module @
func.func @keeps_groups_of_other_targets(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = "tri.group"(%x) ({
  ^bb0(%i: tensor<8xf32>):
    %r = "tri.abs"(%i) : (tensor<8xf32>) -> tensor<8xf32>
    "tri.yield"(%r) : (tensor<8xf32>) -> ()
  }) {target = "host"} : (tensor<8xf32>) -> tensor<8xf32>
  %b = "tri.group"(%a) ({
  ^bb0(%i: tensor<8xf32>):
    %r = "tri.abs"(%i) : (tensor<8xf32>) -> tensor<8xf32>
    "tri.yield"(%r) : (tensor<8xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
