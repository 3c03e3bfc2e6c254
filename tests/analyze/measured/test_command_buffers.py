"""Whose each node of a CUDA graph is, in schedules made by hand; and where nothing is said.

Not its job: what real programs launch (`tests/gpu/test_traces.py`, against XLA's own word).
"""

from __future__ import annotations

from pjit_inspect.analyze.measured.command_buffers import owners_of_nodes
from pjit_inspect.analyze.measured.launches import KernelFunction, Launch, Launches
from pjit_inspect.model.record.kernel_times import GraphNode


def node(number: int, kernel: str, *, graph: int = 1) -> GraphNode:
    return GraphNode(buffer=f"command_buffer_{graph}", graph=graph, number=number, kernel=kernel)


def command(name: str, library: tuple[str, ...]) -> Launch:
    what = name.partition(".")[0]
    return Launch(
        instruction=name,
        is_library=name in library,
        is_product=name in library and what == "call",
        is_attention=name in library and what == "attend",
        moves=what in ("copy", "slice"),
        may_be_nothing=what == "copy" or (name in library and what not in ("call", "attend")),
        fills=what == "fill",
        copies_first=what == "sort",
        clears_first=what == "reduce",
    )


def schedule(*names: str, library: tuple[str, ...] = (), shared: dict[str, str] | None = None) -> Launches:
    """One computation; each instruction has a function of its own but those of a library, copies and `shared` ones.

    Of a library, "call.1" is a product of cuBLAS, "attend.1" an attention of cuDNN, and nobody knows how many kernels
    another has.
    """
    functions = {name: [name] for name in names if name not in library and not name.startswith("copy")}
    for name, of in (shared or {}).items():
        functions[of].append(name)
    return Launches(
        functions={
            name: KernelFunction(instructions={0: tuple(n for n in names if n in of)}, own=frozenset({name}))
            for name, of in functions.items()
        },
        commands={0: tuple(command(name, library) for name in names)},
    )


def owners(launches: Launches, *nodes: GraphNode, known: dict[GraphNode, str] | None = None, ran: tuple[str, ...] = ()):
    found = owners_of_nodes(nodes, launches, known or {}, ran)
    return [found.get(one) for one in nodes]


def test_a_function_is_of_the_instruction_that_it_is_named_after():
    assert owners(schedule("a", "b"), node(0, "a"), node(1, "b")) == ["a", "b"]


def test_what_shares_a_function_is_told_apart_by_its_place():
    shared = schedule("a", "b", "c", shared={"c": "a"})
    # c has a function of its own, which did not run: that of a ran twice.
    assert owners(shared, node(2, "a"), node(0, "a"), node(1, "b")) == ["c", "a", "b"]


def test_a_function_that_ran_more_often_than_instructions_can_have_run_it_has_no_owner():
    assert owners(schedule("a", "b"), node(0, "a"), node(1, "a"), node(2, "b")) == [None, None, "b"]


def test_copies_and_kernels_of_libraries_between_known_nodes_are_what_the_schedule_has_between():
    program = schedule("a", "copy.1", "call.2", "b", library=("call.2",))
    nodes = (node(0, "a"), node(1, "MemcpyD2D"), node(2, "nvjet_128x128"), node(3, "b"))
    assert owners(program, *nodes) == ["a", "copy.1", "call.2", "b"]


def test_where_the_schedule_has_more_or_others_between_nothing_is_said():
    nodes = (node(0, "a"), node(1, "MemcpyD2D"), node(2, "b"))
    assert owners(schedule("a", "copy.1", "b"), *nodes) == ["a", "copy.1", "b"]
    assert owners(schedule("a", "copy.1", "copy.2", "b"), *nodes) == ["a", None, "b"]
    # Nothing of a library only moves bytes.
    assert owners(schedule("a", "call.1", "b", library=("call.1",)), *nodes) == ["a", None, "b"]
    assert owners(schedule("a", "copy.1", "b"), node(0, "a"), node(1, "nvjet"), node(2, "b")) == ["a", None, "b"]


def test_a_graph_within_has_a_number_that_is_not_seen_and_its_nodes_have_the_last_ones():
    program = schedule("call.0", "a", "call.1", "b", library=("call.0", "call.1"))
    nodes = (node(1, "a"), node(3, "b"), node(4, "Memset 0"), node(5, "nvjet_A"), node(6, "nvjet_B"))
    assert owners(program, *nodes) == ["a", "b", "call.0", "call.0", "call.1"]


def test_where_graphs_within_do_not_add_up_nothing_is_said_of_them():
    program = schedule("call.0", "a", "call.1", "b", library=("call.0", "call.1"))
    nodes = (node(1, "a"), node(3, "b"), node(4, "nvjet_A"), node(5, "nvjet_B"), node(6, "nvjet_C"))
    assert owners(program, *nodes) == ["a", "b", None, None, None]
    # Nor where the outer graph may go on: a copy would have the number 4.
    longer = schedule("call.0", "a", "b", "copy.3", library=("call.0",))
    nodes = (node(1, "a"), node(2, "b"), node(3, "nvjet_A"), node(4, "MemcpyD2D"))
    assert owners(longer, *nodes) == ["a", "b", None, None]


def test_a_second_graph_goes_on_where_the_first_ended():
    program = schedule("a", "call.1", "b", library=("call.1",))
    nodes = (node(0, "a"), node(1, "b", graph=2), node(2, "nvjet", graph=2))
    assert owners(program, *nodes) == ["a", "b", "call.1"]
    # What ran by itself is in no graph.
    assert owners(program, *nodes[1:], ran=("a",)) == ["b", "call.1"]
    assert owners(program, *nodes[1:]) == ["b", None]


def test_nodes_that_are_not_in_the_order_of_the_schedule_are_told_by_their_functions_alone():
    program = schedule("a", "copy.1", "b")
    assert owners(program, node(0, "b"), node(1, "MemcpyD2D"), node(2, "a")) == ["b", None, "a"]


def test_what_events_named_is_taken_as_it_is():
    first, second = node(0, "a"), node(1, "a")
    program = schedule("a", "b", shared={"b": "a"})
    assert owners(program, first, second, known={first: "a"}) == ["a", "b"]
    # Where that is not the order of the schedule, it says nothing of the other one.
    assert owners(program, first, second, known={first: "b"}) == ["b", None]


def test_functions_of_two_computations_in_one_graph_have_no_owner():
    both = Launches(
        functions={
            "a": KernelFunction(instructions={0: ("a",)}, own=frozenset({"a"})),
            "b": KernelFunction(instructions={1: ("b",)}, own=frozenset({"b"})),
        },
        commands={0: (Launch(instruction="a"),), 1: (Launch(instruction="b"),)},
    )
    assert owners(both, node(0, "a"), node(1, "b")) == [None, None]


def test_what_adds_the_parts_of_a_product_is_of_that_product():
    program = schedule("call.0", "a", "call.1", "b", library=("call.0", "call.1"))
    nodes = (node(1, "a"), node(3, "b"), node(4, "nvjet_A"), node(5, "cublasLt::splitKreduce_kernel"))
    assert owners(program, *nodes, node(6, "nvjet_B")) == ["a", "b", "call.0", "call.0", "call.1"]
    # Two kernels in two graphs within: one of the products would have run nothing.
    assert owners(program, *nodes) == ["a", "b", None, None]


def test_a_library_of_two_kernels_beside_one_of_none_has_no_owner():
    program = schedule("fft.0", "a", "fft.1", "b", library=("fft.0", "fft.1"))
    nodes = (node(1, "a"), node(3, "b"), node(4, "radix_A"), node(5, "radix_B"))
    assert owners(program, *nodes) == ["a", "b", None, None]


def test_the_copies_of_a_sort_are_its_own_and_not_those_of_a_copy_that_runs_nothing():
    nodes = (node(0, "a"), node(1, "MemcpyD2D"), node(2, "sort.1"))
    assert owners(schedule("a", "sort.1"), *nodes) == ["a", "sort.1", "sort.1"]
    # The one copy may be the copy's, or the sort's where the copy has nothing to do.
    assert owners(schedule("a", "copy.1", "sort.1"), *nodes) == ["a", None, "sort.1"]
    # A slice by a number that is known when it runs is always one.
    assert owners(schedule("a", "slice.1", "sort.1"), *nodes) == ["a", "slice.1", "sort.1"]
    nodes = (*nodes[:2], node(2, "MemcpyD2D"), node(3, "sort.1"))
    assert owners(schedule("a", "slice.1", "slice.2", "sort.1"), *nodes) == ["a", "slice.1", "slice.2", "sort.1"]


def test_a_clearing_is_no_copy():
    nodes = (node(0, "a"), node(1, "Memset 0"), node(2, "reduce.1"))
    assert owners(schedule("a", "copy.1", "reduce.1"), *nodes) == ["a", None, "reduce.1"]
    assert owners(schedule("a", "reduce.1"), *nodes) == ["a", "reduce.1", "reduce.1"]
    assert owners(schedule("a", "fill.1", "reduce.1"), *nodes) == ["a", "fill.1", "reduce.1"]


def test_a_function_of_what_ran_by_itself_is_of_another_in_the_graph():
    program = schedule("a", "b", "c", shared={"c": "a"})
    assert owners(program, node(0, "b"), node(1, "a"), ran=("a",)) == ["b", "c"]


def test_what_shares_a_function_has_no_owner_where_its_place_contradicts():
    program = schedule("a", "b", "c", "d", shared={"c": "a"})
    # The event of a is lost: what ran after b is no run of a, and before d there is but one place.
    assert owners(program, node(1, "b"), node(2, "a")) == ["b", None]
    assert owners(program, node(1, "b"), node(2, "a"), node(3, "d")) == ["b", "c", "d"]
    # c would have run nothing.
    assert owners(schedule("a", "c", "d", shared={"c": "a"}), node(0, "a"), node(1, "d")) == [None, "d"]
    # Nothing before it in the schedule can be the graph within that the number 0 would be.
    assert owners(schedule("b", "a", "c", shared={"c": "a"}), node(1, "a")) == [None]
    assert owners(schedule("b", "a", "c", shared={"c": "a"}), node(0, "b"), node(1, "a")) == ["b", "a"]


def test_stages_of_a_sort_are_numbered_functions_of_it():
    launches = schedule("copy.1", "a", "sort", "b")
    nodes = [
        node(0, "memcpy128"),
        *(node(1 + k, one) for k, one in enumerate(("a", "sort", "sort__1", "sort__2", "b"))),
    ]
    assert owners(launches, *nodes) == ["copy.1", "a", "sort", "sort", "sort", "b"]
    # Events may name the instruction of some.
    known = dict.fromkeys(nodes[2:5], "sort")
    assert owners(launches, *nodes, known=known) == ["copy.1", "a", "sort", "sort", "sort", "b"]


def test_kernels_of_an_attention_are_told_from_products_by_their_names():
    launches = schedule("a", "call.1", "b", "attend.1", "c", "call.2", library=("call.1", "attend.1", "call.2"))
    outer = [node(0, "a"), node(2, "b"), node(4, "c")]
    within = [
        node(6, "nvjet_1"),
        node(8, "Memset 0"),
        node(9, "void cudnn::fusion::compute_dot"),
        node(10, "cudnn_generated_bprop"),
        node(11, "nvjet_2"),
    ]
    found = ["call.1", "attend.1", "attend.1", "attend.1", "call.2"]
    assert owners(launches, *outer, *within) == ["a", "b", "c", *found]
    # One that has a name of another sort, and one that is missing: then nothing is said of any.
    for odd in ([*within[:3], node(10, "nvjet_3"), within[4]], within[:4], [*within[:1], *within[4:]]):
        assert owners(launches, *outer, *odd) == ["a", "b", "c", *[None] * len(odd)]


def test_two_attentions_side_by_side_have_no_owner():
    launches = schedule("a", "attend.1", "attend.2", "b", library=("attend.1", "attend.2"))
    nodes = [node(0, "a"), node(3, "b"), node(4, "cudnn_1"), node(5, "cudnn_2")]
    assert owners(launches, *nodes) == ["a", "b", None, None]
