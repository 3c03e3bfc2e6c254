"""Rows are the user's scopes in forward order, and what stands between them."""

from __future__ import annotations

from graph_cases import fixture, graph_of, lines, op, path, program, rows, where

FWD, BWD = "jit(f)/jvp({})/x", "jit(f)/transpose(jvp({}))/x"


def chain(*names: str) -> str:
    """Kernels k0, k1, ..., each taking the one before, named so."""
    body = [op(f"k{n}", "sine", "q" if n == 0 else f"k{n - 1}", at=name) for n, name in enumerate(names)]
    return lines(*body, op("z", "copy", f"k{len(names) - 1}", root=True))


def test_rows_stand_in_forward_order_whatever_their_names():
    graph = graph_of(program(chain("jit(f)/zebra/x", "jit(f)/apple/x", "jit(f)/mango/x")))
    assert rows(graph) == ["zebra", "apple", "mango"]


def test_numbered_layers_stand_in_the_order_of_their_numbers():
    names = [FWD.format(f"layer{k}") for k in range(12)]
    graph = graph_of(program(chain(*names)))
    assert rows(graph) == [f"layer{k}" for k in range(12)]


def test_a_row_of_the_backward_pass_alone_stands_where_it_comes_past():
    names = [FWD.format("a"), FWD.format("b"), BWD.format("b"), BWD.format("only"), BWD.format("a")]
    graph = graph_of(program(chain(*names)))
    assert rows(graph) == ["a", "only", "b"]


def test_what_comes_before_and_after_all_scopes_are_inputs_and_loss():
    graph = graph_of(
        program(
            chain(
                "jit(f)/jvp()/gather",
                FWD.format("a"),
                "jit(f)/jvp()/log",
                "jit(f)/transpose(jvp())/div",
                BWD.format("a"),
            )
        )
    )
    assert rows(graph) == ["inputs", "a", "loss"]
    assert where(graph, "k2")[0] == where(graph, "k3")[0] == "loss"


def test_without_a_backward_pass_it_is_outputs():
    graph = graph_of(program(chain("jit(f)/a/sin", "jit(f)/exp")))
    assert rows(graph) == ["a", "outputs"]


def test_a_forward_kernel_that_leads_to_no_scope_is_no_input():
    """The labels of a loss depend on no layer, and no layer on them."""
    graph = graph_of(
        program(
            lines(
                op("labels", "cosine", "q", at="jit(f)/gather"),
                op("k", "sine", "q", at="jit(f)/a/sin"),
                op("z", "add", "labels", "k", root=True, at="jit(f)/sub"),
            )
        )
    )
    assert rows(graph) == ["a", "outputs"]
    assert where(graph, "labels")[0] == "outputs"


def test_a_few_kernels_between_scopes_join_the_scope_before():
    names = ["jit(f)/layer/attn/x", "jit(f)/layer/add", "jit(f)/layer/mlp/x"]
    graph = graph_of(program(chain(*names)))
    assert rows(graph) == ["layer", "layer/attn", "layer/mlp"]
    assert where(graph, "k1")[0] == "layer/attn"


def test_many_kernels_between_scopes_have_a_row():
    between = ["jit(f)/layer/add"] * 4
    graph = graph_of(program(chain("jit(f)/layer/attn/x", *between, "jit(f)/layer/mlp/x")))
    assert rows(graph) == ["layer", "layer/attn", "layer/after attn", "layer/mlp"]
    kinds = [row.kind for row in graph.rows]
    assert kinds == ["program", "scope", "scope", "between", "scope"]


def test_nothing_stands_between_equal_layers():
    between = ["jit(f)/add"] * 9
    graph = graph_of(program(chain("jit(f)/layer0/x", *between, "jit(f)/layer1/x")))
    assert rows(graph) == ["layer0", "layer1"]


def test_many_kernels_before_and_after_inner_scopes_are_head_and_tail():
    names = ["jit(f)/layer/norm"] * 5 + ["jit(f)/layer/attn/x"] + ["jit(f)/layer/mul"] * 5
    graph = graph_of(program(chain(*names)))
    assert rows(graph) == ["layer", "layer/head", "layer/attn", "layer/tail"]


def test_a_program_without_any_structure_has_one_row():
    graph = graph_of(program(chain("jit(f)/sin", "jit(f)/sin", "jit(f)/cos")))
    assert rows(graph) == ["all"]
    assert graph.rows[1].holds == "sin, cos"


def test_a_scope_beside_a_loop_with_the_same_scope_in_it_says_so():
    _, _, graph = fixture("permute_ring.h100_1x1x8")
    assert [row.kind for row in graph.rows] == ["program", "loop"]
    assert graph.rows[1].loop_trips == 5


def test_functions_refine_layers_named_only_by_number():
    """`GRAPH.md`, rule 9: 16 layers named `layerN` and `qkv`; source frames give the rest."""
    _, _, graph = fixture("train_step_16_layers.cpu_8")
    inner = [path(graph, child) for child in graph.rows[graph.folds[0].shown].children]
    layer = graph.rows[graph.folds[0].shown].name
    assert inner == [
        f"{layer}/layernorm(), line 45",
        f"{layer}/attention()",
        f"{layer}/layernorm(), line 46",
        f"{layer}/mlp()",
    ]


def test_parents_stand_before_children_and_each_kernel_stands_in_one_row():
    _, _, graph = fixture("transformer_step.v5e_2x4")
    assert all(row.parent < number for number, row in enumerate(graph.rows))
    assert all(graph.rows[child].parent == number for number, row in enumerate(graph.rows) for child in row.children)
    assert sum(box.kernels for box in graph.boxes) == len(graph.kernels)
