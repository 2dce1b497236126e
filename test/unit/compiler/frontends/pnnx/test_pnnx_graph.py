from collections.abc import Callable
from pathlib import Path

import pytest
from pnnx_files import LINEAR, linear
from trivium.compiler.frontends.pnnx import Graph, Operator, Parameter, read_pnnx, write_pnnx
from trivium.dialects.core.errors import CompileError


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return read_pnnx(linear(tmp_path))


def test_every_field(graph: Graph):
    types = [operator.type for operator in graph.operators]
    assert types == ["pnnx.Input", "nn.Linear", "pnnx.Expression", "pnnx.Output"]
    assert list(graph.operands) == ["0", "1", "2"]
    linear, expression = graph.operator("fc"), graph.operator("add")
    assert (linear.name, linear.line, linear.slots) == ("fc", 4, ["input"])
    assert {key: p.value for key, p in linear.parameters.items()} == {
        "bias": True,
        "in_features": 3,
        "out_features": 4,
    }
    assert list(linear.attributes) == ["bias", "weight"]
    operand = graph.operand("1")
    assert linear.outputs == expression.inputs == [operand]
    assert (operand.producer, operand.consumers) == (linear, [expression])
    assert (operand.name, operand.dtype, operand.shape) == ("1", "f32", (2, 4))
    assert expression.parameters["expr"].value == "mul(@0,@0)"


def test_inputs_come_from_nowhere_and_outputs_go_nowhere(graph: Graph):
    assert graph.operator("in").inputs == []
    assert graph.operator("out").outputs == []


def test_a_name_that_is_not_there(graph: Graph):
    with pytest.raises(CompileError) as error:
        graph.operator("ad")
    assert str(error.value) == "error: the graph has no operator 'ad'\n  note: is it 'add'?"
    with pytest.raises(CompileError, match=r"the graph has no operand 'nothing like it'$"):
        graph.operand("nothing like it")


def test_an_operator_is_put_between_two(graph: Graph, tmp_path: Path):
    before = graph.operator("add")
    relu = graph.insert_operator_before("F.relu", "relu", before)
    relu.add_input(graph.operand("1"), "input")
    relu.add_output(graph.add_operand("relu_out"))
    relu.parameters["inplace"] = Parameter.of(False)
    before.replace_input(0, graph.operand("relu_out"))
    graph.verify()
    assert graph.operand("1").consumers == [relu]
    assert graph.operand("relu_out").consumers == [before]
    write_pnnx(graph, tmp_path / "new.param", tmp_path / "new.bin")
    lines = LINEAR.splitlines()
    lines[1] = "5 4"
    lines[4] = lines[4].replace("1 1 1 2 ", "1 1 relu_out 2 ").replace(" #1=(2,4)f32", "")
    added = f"{'F.relu':24} {'relu':24} 1 1 1 relu_out inplace=False $input=1 #1=(2,4)f32"
    lines.insert(4, added)
    assert (tmp_path / "new.param").read_text().splitlines() == lines


def test_an_operator_is_removed(graph: Graph):
    add, out = graph.operator("add"), graph.operator("out")
    with pytest.raises(CompileError, match=r"makes operand '2', which 'out' reads"):
        graph.remove_operator(add)
    out.replace_input(0, graph.operand("1"))
    graph.remove_operator(add)
    graph.verify()
    assert "2" not in graph.operands
    assert graph.operand("1").consumers == [out]
    with pytest.raises(CompileError, match=r"no operator 'add'"):
        graph.operator("add")
    with pytest.raises(CompileError, match=r"'add' is not in this graph"):
        graph.remove_operator(add)
    assert graph.add_operator("F.relu", "add").type == "F.relu"


def test_a_consumer_is_removed_with_all_its_uses(graph: Graph):
    operator, operand = graph.operator("add"), graph.operand("1")
    operator.add_input(graph.operand("0"), "other")
    operator.add_input(operand)
    operand.remove_consumer(operator)
    assert [o.name for o in operator.inputs] == ["0"]
    assert operator.slots == ["other"]
    assert operand.consumers == []
    graph.verify()
    with pytest.raises(CompileError, match=r"'add' does not take operand '1'"):
        operand.remove_consumer(operator)


def test_an_operand_has_one_producer(graph: Graph):
    with pytest.raises(CompileError, match=r"makes operand '1', which 'fc' makes already"):
        graph.operator("add").add_output(graph.operand("1"))
    graph.verify()


def test_names_are_taken_once(graph: Graph):
    with pytest.raises(CompileError, match=r"has an operator 'fc' already"):
        graph.add_operator("F.relu", "fc")
    with pytest.raises(CompileError, match=r"has an operator 'fc' already"):
        graph.insert_operator_before("F.relu", "fc", graph.operators[0])
    with pytest.raises(CompileError, match=r"has an operand '0' already"):
        graph.add_operand("0")
    assert len(graph.operators) == 4


def test_an_operand_used_twice_has_a_consumer_twice(graph: Graph):
    add, operand = graph.operator("add"), graph.operand("1")
    add.add_input(operand)
    assert operand.consumers == [add, add]
    add.remove_input(0)
    assert operand.consumers == [add]
    graph.verify()


def swap(graph: Graph) -> None:
    graph.operators[1], graph.operators[2] = graph.operators[2], graph.operators[1]


def forget_consumer(graph: Graph) -> None:
    graph.operand("1").consumers.clear()


def orphan(graph: Graph) -> None:
    graph.add_operand("alone")


def second_producer(graph: Graph) -> None:
    graph.operator("add").outputs.append(graph.operand("1"))


def rename(graph: Graph) -> None:
    graph.operator("add").name = "fc"


def blank(graph: Graph) -> None:
    graph.operator("add").name = "a b"


def stranger(graph: Graph) -> None:
    other = Operator("F.relu", "other")
    other.add_input(graph.operand("1"))


def slots(graph: Graph) -> None:
    graph.operator("fc").slots.append("more")


def twice(graph: Graph) -> None:
    graph.operator("fc").add_input(graph.operand("0"), "input")


def parameter(graph: Graph) -> None:
    graph.operator("fc").parameters["@bias"] = Parameter.of(True)


def words(graph: Graph) -> None:
    graph.operator("fc").parameters["mode"] = Parameter("a b", "a b")


def word(graph: Graph) -> None:
    graph.operand("1").dtype = "float32"


def negative(graph: Graph) -> None:
    graph.operand("1").shape = (-1, 4)


def symbol(graph: Graph) -> None:
    graph.operand("1").shape = ("a,b", 4)


def surrogate(graph: Graph) -> None:
    graph.operand("1").name = "\udc80"


FAULTS: dict[Callable[[Graph], None], str] = {
    swap: "'add' takes operand '1', which no operator before it makes",
    forget_consumer: "operand '1' is said to be read by nobody, is by 'add'",
    orphan: "operand 'alone' is made by no operator",
    second_producer: "'add' makes operand '1', which another makes",
    rename: "'fc' has the name of another operator",
    blank: "has a blank in its name or type",
    stranger: "operand '1' is said to be read by 'add', 'other', is by 'add'",
    slots: "has 2 slots, must have 1, one an input",
    twice: "has slot 'input' twice",
    parameter: "has a parameter '@bias', must not begin with @, \\$ or #",
    words: "has a parameter 'mode' with a blank in its text",
    word: "operand '1' is of type 'float32', must be one of f32, f64",
    negative: "operand '1' has a size -1, must not be negative",
    symbol: "operand '1' has a symbol 'a,b', must be a name without",
    surrogate: "has a blank or '=' in its name",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_faults_are_found_and_nothing_is_written(fault: Callable[[Graph], None], tmp_path: Path):
    graph = read_pnnx(linear(tmp_path))
    fault(graph)
    with pytest.raises(CompileError, match=FAULTS[fault]):
        graph.verify()
    with pytest.raises(CompileError, match=FAULTS[fault]):
        write_pnnx(graph, tmp_path / "net.pnnx.param", tmp_path / "net.pnnx.bin")
    assert (tmp_path / "net.pnnx.param").read_text() == LINEAR


def test_all_faults_are_found_at_once(graph: Graph):
    swap(graph)
    word(graph)
    with pytest.raises(CompileError) as error:
        graph.verify()
    assert len(error.value.diagnostics) == 2
    assert error.value.diagnostics[0].where.endswith("net.pnnx.param:5")
