// RUN: trivium-opt %s --verify-diagnostics

// expected-error @below {{'func.func' op attribute 'trivium.generation' is {ids = "x"}, must name ids, logits, mask, positions, starts, totals, rows and list caches: output, input, and two axes; tokens in 'ends' and numbers in 'sampling'}}
func.func @no_caches(%x: tensor<1x1xi64>) -> tensor<1x1xi64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"], trivium.generation = {ids = "x"}
} {
  return %x : tensor<1x1xi64>
}

// expected-error @below {{'func.func' op attribute 'trivium.generation' is {caches = [], ends = [2], ids = "x", logits = "y", mask = "", positions = "", rows = ""}, must name ids, logits, mask, positions, starts, totals, rows and list caches: output, input, and two axes; tokens in 'ends' and numbers in 'sampling'}}
func.func @ends_of_another_type(%x: tensor<1x1xi64>) -> tensor<1x1xi64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"],
  trivium.generation = {ids = "x", logits = "y", mask = "", positions = "", rows = "", caches = [], ends = [2]}
} {
  return %x : tensor<1x1xi64>
}

// expected-error @below {{'func.func' op has ids 'z' and logits 'y' in 'trivium.generation', must be an input and an output}}
func.func @no_tokens(%x: tensor<1x1xi64>) -> tensor<1x1xi64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"],
  trivium.generation = {ids = "z", logits = "y", mask = "", positions = "", rows = "", caches = []}
} {
  return %x : tensor<1x1xi64>
}

// expected-error @below {{'func.func' op has rows 'x' in 'trivium.generation', must be an input of rank 1}}
func.func @rows_of_another_rank(%x: tensor<1x1xi64>) -> tensor<1x1xi64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"],
  trivium.generation = {ids = "x", logits = "y", mask = "", positions = "", rows = "x", caches = []}
} {
  return %x : tensor<1x1xi64>
}

// expected-error @below {{'func.func' op makes 'z' the cache 'x' in 'trivium.generation', must be an output and an input}}
func.func @no_output(%x: tensor<1x1xi64>) -> tensor<1x1xi64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"],
  trivium.generation = {ids = "x", logits = "y", mask = "", positions = "", rows = "", caches = [["z", "x", 0, 1]]}
} {
  return %x : tensor<1x1xi64>
}

// expected-error @below {{'func.func' op makes 'y' tensor<1x1xi64> the cache 'x' tensor<1x1xi64> with axes (0, 2) in 'trivium.generation', must be of one element type and rank, with axes of these}}
func.func @axis_too_many(%x: tensor<1x1xi64>) -> tensor<1x1xi64> attributes {
  trivium.inputs = ["x"], trivium.outputs = ["y"],
  trivium.generation = {ids = "x", logits = "y", mask = "", positions = "", rows = "", caches = [["y", "x", 0, 2]]}
} {
  return %x : tensor<1x1xi64>
}

// expected-error @below {{'func.func' op has 'trivium.generation', but no names of its outputs}}
func.func @outputs_without_names(%x: tensor<1x1xi64>) -> tensor<1x1xi64> attributes {
  trivium.inputs = ["x"],
  trivium.generation = {ids = "x", logits = "y", mask = "", positions = "", rows = "", caches = []}
} {
  return %x : tensor<1x1xi64>
}
