// RUN: trivium-opt %s --lower-to-tile --emit=triton | FileCheck %s

// Sizes that depend on symbols are parameters, behind the pointers. A multiple of 16 is known to be
// one; offsets have 64 bits unless the ranges say that 32 are enough.
// CHECK-LABEL: # exp_{{.*}}[((N*T + 31)//32, 1, 1)](
// CHECK-NEXT:  #     exp_x_ptr: *fp32,
// CHECK-NEXT:  #     y_ptr: *fp32,
// CHECK-NEXT:  #     size=16*N*T,
// CHECK-NEXT:  #     BLOCK=512,
// CHECK:       def exp_{{.*}}(exp_x_ptr, y_ptr, size, BLOCK: tl.constexpr):
// CHECK:         exp_x = tl.load(exp_x_ptr + index, mask=
// CHECK-SAME:    (index < size)

// CHECK-LABEL: # exp_{{.*}}[
// CHECK:       def exp_{{.*}}(exp_x_ptr, y_ptr, M, BLOCK: tl.constexpr):
// CHECK:         exp_x_ptr + tl.cast(index, tl.int64)
func.func @main(%x: tensor<?x?x16xf32, ["N", "T", ""]>, %z: tensor<?xf32, ["M"]>) -> (tensor<?x?x16xf32, ["N", "T", ""]>, tensor<?xf32, ["M"]>) attributes {trivium.symbols = {N = "1..64", T = "1..512:128", M = "1.."}} {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<?x?x16xf32, ["N", "T", ""]>):
    %e = "tri.exp"(%a) : (tensor<?x?x16xf32, ["N", "T", ""]>) -> tensor<?x?x16xf32, ["N", "T", ""]>
    "tri.yield"(%e) : (tensor<?x?x16xf32, ["N", "T", ""]>) -> ()
  }) {target = "gpu"} : (tensor<?x?x16xf32, ["N", "T", ""]>) -> tensor<?x?x16xf32, ["N", "T", ""]>
  %w = "tri.group"(%z) ({
  ^bb0(%a: tensor<?xf32, ["M"]>):
    %e = "tri.exp"(%a) : (tensor<?xf32, ["M"]>) -> tensor<?xf32, ["M"]>
    "tri.yield"(%e) : (tensor<?xf32, ["M"]>) -> ()
  }) {target = "gpu"} : (tensor<?xf32, ["M"]>) -> tensor<?xf32, ["M"]>
  return %y, %w : tensor<?x?x16xf32, ["N", "T", ""]>, tensor<?xf32, ["M"]>
}
