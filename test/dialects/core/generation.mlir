// RUN: trivium-opt %s | trivium-opt | FileCheck %s

// The step of a decoder says which ports are tokens, logits and caches.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: trivium.generation = {caches = {{\[}}["present.key", "past.key", 0, 2]], ends = array<i64: 2, 5>, ids = "input_ids", logits = "logits", mask = "attention_mask", positions = "", rows = "", sampling = {temperature = 5.000000e-01 : f64, top_k = 3 : i64}}
func.func @step(%ids: tensor<1x1xi64>, %mask: tensor<1x8xi64>, %past: tensor<1x2x8x4xf32>, %logits: tensor<1x1x16xf32>) -> (tensor<1x1x16xf32>, tensor<1x2x8x4xf32>) attributes {
  trivium.inputs = ["input_ids", "attention_mask", "past.key", "x"],
  trivium.outputs = ["logits", "present.key"],
  trivium.generation = {ids = "input_ids", logits = "logits", mask = "attention_mask", positions = "", rows = "", caches = [["present.key", "past.key", 0, 2]], ends = array<i64: 2, 5>, sampling = {temperature = 5.0e-01 : f64, top_k = 3 : i64}}
} {
  return %logits, %past : tensor<1x1x16xf32>, tensor<1x2x8x4xf32>
}
