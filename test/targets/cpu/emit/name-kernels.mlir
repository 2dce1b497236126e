// RUN: trivium-opt %s --name-kernels | FileCheck %s
// RUN: trivium-opt %s --name-kernels --name-kernels | FileCheck %s

// Names are digests of the code alone: of two equal kernels one is left, which both groups name.
// CHECK-LABEL: func.func @keeps_one_of_equal_kernels
// CHECK:         cpu.kernel = "[[FIRST:k_[0-9a-f]+]]"
// CHECK:         cpu.kernel = "[[FIRST]]"
// CHECK:         cpu.kernel = "[[OTHER:k_[0-9a-f]+]]"
// CHECK:       module @[[FIRST]]
// CHECK-NEXT:    func.func @[[FIRST]](
// CHECK:       module @[[OTHER]]
// CHECK-NEXT:    func.func @[[OTHER]](
// CHECK-NOT:   module
module {
  func.func @keeps_one_of_equal_kernels(%x: tensor<8xf32>) -> tensor<8xf32> {
    %a = "tri.group"(%x) ({
    ^bb0(%i: tensor<8xf32>):
      %r = "tri.abs"(%i) : (tensor<8xf32>) -> tensor<8xf32>
      "tri.yield"(%r) : (tensor<8xf32>) -> ()
    }) {target = "cpu", cpu.kernel = "kernel_0"} : (tensor<8xf32>) -> tensor<8xf32>
    %b = "tri.group"(%a) ({
    ^bb0(%i: tensor<8xf32>):
      %r = "tri.abs"(%i) : (tensor<8xf32>) -> tensor<8xf32>
      "tri.yield"(%r) : (tensor<8xf32>) -> ()
    }) {target = "cpu", cpu.kernel = "kernel_1"} : (tensor<8xf32>) -> tensor<8xf32>
    %c = "tri.group"(%b) ({
    ^bb0(%i: tensor<8xf32>):
      %r = "tri.neg"(%i) : (tensor<8xf32>) -> tensor<8xf32>
      "tri.yield"(%r) : (tensor<8xf32>) -> ()
    }) {target = "cpu", cpu.kernel = "kernel_2"} : (tensor<8xf32>) -> tensor<8xf32>
    return %c : tensor<8xf32>
  }
  module @kernel_0 attributes {cpu.private = array<i64>, cpu.scratch = []} {
    func.func @kernel_0(%phase: index, %begin: index, %end: index, %x: memref<8xf32>) {
      return
    }
  }
  module @kernel_1 attributes {cpu.private = array<i64>, cpu.scratch = []} {
    func.func @kernel_1(%phase: index, %begin: index, %end: index, %x: memref<8xf32>) {
      return
    }
  }
  module @kernel_2 attributes {cpu.private = array<i64>, cpu.scratch = []} {
    func.func @kernel_2(%phase: index, %begin: index, %end: index, %x: memref<9xf32>) {
      return
    }
  }
}
