// RUN: trivium-opt %s --pack-weights=machine=x86-64-v9 --verify-diagnostics
// RUN: trivium-opt %s --choose-winograd=machine=x86-64-v9 --verify-diagnostics
// RUN: trivium-opt %s --lower-to-kernels=machine=x86-64-v9 --verify-diagnostics

// expected-error @unknown {{no machine is called 'x86-64-v9', there are: native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4}}
func.func @nothing() {
  return
}
