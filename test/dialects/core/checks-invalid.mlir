// RUN: trivium-opt %s --verify-diagnostics

// expected-error @below {{'trivium.checks' is [{expression = "N - 3", message = "", node = "", relation = "<"}], must list expression, relation, message, node}}
func.func @relation(%x: tensor<?xf32, ["N"]>) attributes {
    trivium.symbols = {N = "1.."},
    trivium.checks = [{expression = "N - 3", relation = "<", message = "", node = ""}]} {
  return
}

// expected-error @below {{size 'M' has symbol 'M', which is not declared}}
func.func @undeclared(%x: tensor<?xf32, ["N"]>) attributes {
    trivium.checks = [{expression = "M", relation = ">=", message = "", node = ""}]} {
  return
}
