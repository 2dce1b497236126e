// RUN: not trivium-opt %s --quantize-weights="bits=3" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not trivium-opt %s --quantize-weights="block=24" 2>&1 | FileCheck %s --check-prefix=BLOCK

// BITS: error: weights cannot be quantised: a form has elements of 3 bits, must be of 2, 4, 8
// BLOCK: error: weights cannot be quantised: a form has blocks of 24, must be a power of two from 16 on
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  return %x : tensor<1x2xf32>
}
