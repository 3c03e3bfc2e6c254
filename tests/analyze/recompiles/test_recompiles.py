"""Keys made by hand: which earlier compile is the nearest, what repeats, what each call copies."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from pjit_inspect.analyze.recompiles.key_differences import key_differences
from pjit_inspect.analyze.recompiles.ledger import Compile, build_ledger
from pjit_inspect.analyze.recompiles.patterns import padding_buckets
from pjit_inspect.analyze.recompiles.recompiles import KeyHistory, family_of
from pjit_inspect.analyze.recompiles.resharded import find_resharded, resharded_notes
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.compile_key import ArgumentKey, CompileKey, FedBack, FunctionKey, MadeBy, NamedText
from pjit_inspect.model.record.record import RecordData, Timings
from pjit_inspect.model.words.sentence import axis, bare, name, spec

PLACE = Frame(file="train.py", line=3, function="step")
STEP = FunctionKey(name="step", serial=1, place=PLACE, code="c0de", lines=("def step(x):", "    return x"))
MESH = Mesh(axis_names=("x",), shape=(4,), device_ids=(0, 1, 2, 3))


def argument(path: str = "x", length: int = 4, **changes) -> ArgumentKey:
    return ArgumentKey(**({"path": path, "shape": (length,), "dtype": "float32", "type": "numpy.ndarray"} | changes))


def record(serial: int, *arguments: ArgumentKey, name: str = "step", **changes) -> RecordData:
    timings = Timings(trace_s=0.1, lower_s=0.2, compile_s=0.7)
    key = CompileKey(serial=serial, arguments=arguments, missed="tracing", tree=len(arguments), function=STEP, clears=0)
    fields = {f: v for f, v in changes.items() if f in CompileKey.__dataclass_fields__}
    rest = {f: v for f, v in changes.items() if f not in fields}
    where = Frame(file="train.py", line=9)
    data = RecordData(name=name, key=dataclasses.replace(key, **fields), timings=timings, user_frame=where)
    return dataclasses.replace(data, **rest)


def history(*records: RecordData) -> KeyHistory:
    made = KeyHistory()
    for data in records:
        made.add(data)
    return made


def ledger_of(*records: RecordData):
    known = history(*records)
    return build_ledger([Compile(index=i, data=d, reason=known.reason(d)) for i, d in enumerate(records)])


# ---------------------------------------------------------------- the nearest


def test_the_first_compile_of_a_function_has_nothing_to_differ_from():
    data = record(1, argument())
    reason = history(data).reason(data)
    assert (reason.kind, reason.nearest, reason.differences) == ("first", None, ())


def test_the_nearest_is_the_one_with_the_fewest_changes_and_not_the_newest():
    near = record(1, argument("x", 4), argument("y", 4))
    far = record(2, argument("x", 9), argument("y", 9))
    mine = record(3, argument("x", 4), argument("y", 5))
    assert history(near, far, mine).reason(mine).nearest == 1


def test_of_two_that_are_equally_near_the_newest_counts():
    records = [record(n, argument(length=n)) for n in (1, 2, 3)]
    assert history(*records).reason(records[2]).nearest == 2


def test_only_compiles_that_ended_before_count():
    first, second = record(1, argument(length=4)), record(2, argument(length=5))
    known = history(first, second)
    assert known.reason(first).kind == "first"
    assert known.reason(second).nearest == 1


def test_keys_of_threads_may_arrive_out_of_order_and_twice():
    records = [record(n, argument(length=n)) for n in (1, 2, 3)]
    known = history(records[2], records[0], records[1], records[0])
    assert [known.reason(data).nearest for data in records] == [None, 1, 2]
    assert known.count(records[2]) == 3


def test_compiles_of_another_function_do_not_count():
    other = record(1, argument(), function=dataclasses.replace(STEP, name="evaluate"), name="evaluate")
    mine = record(2, argument())
    assert history(other, mine).reason(mine).kind == "first"


def test_a_program_that_was_not_compiled_says_so():
    data = record(1, argument(), cached="memory", missed=None)
    assert history(data).reason(data).sentence == "not compiled: JAX had this program already"


def test_a_record_without_a_key_is_unknown_and_no_error():
    data = RecordData(name="f")
    reason = history(data).reason(data)
    assert reason.kind == "unknown"
    assert history(data).count(data) == 0


def test_a_function_keeps_its_newest_two_thousand_keys():
    known = KeyHistory()
    records = [record(n, argument(length=n)) for n in range(1, 2102)]
    for data in records:
        known.add(data)
    assert known.reason(records[-1]).nearest == 2100
    assert known.reason(records[0]).kind == "first"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (STEP, dataclasses.replace(STEP, serial=2, code="0ther"), True),
        (STEP, dataclasses.replace(STEP, place=Frame(file="other.py", line=3)), False),
        (STEP, dataclasses.replace(STEP, kind="wrapper", wrapper="grad"), False),
        (
            dataclasses.replace(STEP, place=Frame(file="<1>", line=1, cell="In [1]")),
            dataclasses.replace(STEP, place=Frame(file="<2>", line=4, cell="In [2]")),
            True,
        ),
        (
            dataclasses.replace(STEP, name="<lambda>", kind="lambda"),
            dataclasses.replace(STEP, name="<lambda>", kind="lambda", place=Frame(file="train.py", line=4)),
            True,
        ),
        (
            dataclasses.replace(STEP, name="<lambda>", kind="lambda"),
            dataclasses.replace(STEP, name="<lambda>", kind="lambda", code="0ther"),
            False,
        ),
    ],
)
def test_a_function_is_known_by_name_and_file_a_cell_as_any_cell_and_a_lambda_by_its_code(one, other, same):
    families = [family_of(record(1, function=function)) for function in (one, other)]
    assert (families[0] == families[1]) is same


# ---------------------------------------------------------------- differences


def test_equal_keys_differ_in_nothing():
    key = record(1, argument()).key
    assert key is not None
    assert key_differences(key, dataclasses.replace(key, serial=2)) == ()


def test_what_only_one_key_knows_is_not_compared():
    key = record(1, argument()).key
    assert key is not None
    assert key_differences(dataclasses.replace(key, function=None, positional=None), key) == ()


def test_a_sentence_names_three_differences_and_counts_the_others():
    before = record(1, *(argument(f"p{i}", 2 + i) for i in range(6)))
    after = record(2, *(argument(f"p{i}", 20 + 3 * i) for i in range(6)))
    sentence = history(before, after).reason(after).sentence
    assert sentence == (
        "`p0`: length 2 -> 20 (dimension 0); `p1`: length 3 -> 23 (dimension 0); `p2`: length 4 -> 26 (dimension 0); "
        "and 3 more differences"
    )


def test_a_hostile_name_stands_in_the_sentence_as_it_is_and_nothing_breaks():
    path = "p['`\n<b>\x1b[31m']"
    before, after = record(1, argument(path, 1)), record(2, argument(path, 2))
    assert history(before, after).reason(after).sentence == f"`{path}`: length 1 -> 2 (dimension 0)"


# ---------------------------------------------------------------- the ledger


def test_a_row_adds_up_the_compiles_of_a_function_and_call_site():
    ledger = ledger_of(record(1, argument(length=1)), record(2, argument(length=2)))
    (row,) = ledger.rows
    assert (row.compiles, row.missed, row.from_disk) == (2, (("tracing", 2),), 0)
    assert (row.trace_s, row.lower_s, row.compile_s) == pytest.approx((0.2, 0.4, 1.4))
    assert ledger.total_s == pytest.approx(2.0)
    assert [(r.sentence, r.count) for r in row.reasons] == [("`x`: length 1 -> 2 (dimension 0)", 1)]


def test_calls_that_compile_nothing_are_counted_apart():
    ledger = ledger_of(record(1, argument()), record(2, argument(), cached="memory"))
    assert (ledger.compiles, ledger.known) == (1, 1)


def test_a_cell_that_runs_again_is_one_call_site():
    cells = [Frame(file=f"<{n}>", line=2, cell=f"In [{n}]") for n in (1, 2)]
    texts = [(SourceText(file=f"<{n}>", cell=f"In [{n}]", lines=("import jax", "step(x)")),) for n in (1, 2)]
    records = [
        record(n, argument(length=n), user_frame=cell, sources=text)
        for n, cell, text in zip((1, 2), cells, texts, strict=True)
    ]
    (row,) = ledger_of(*records).rows
    assert row.where == cells[1]


def test_the_most_expensive_row_stands_first():
    cheap = record(1, argument(), name="cheap", function=dataclasses.replace(STEP, name="cheap"))
    dear = record(2, argument(), name="dear", function=dataclasses.replace(STEP, name="dear"))
    dear = dataclasses.replace(dear, timings=Timings(compile_s=60.0))
    assert [row.name for row in ledger_of(cheap, dear).rows] == ["dear", "cheap"]


# ---------------------------------------------------------------- patterns


@pytest.mark.parametrize(
    ("lengths", "buckets"),
    [((3, 5, 9), (4, 8, 16)), ((500, 501, 512), (512,)), ((1, 2), (1, 2)), ((0, 1), (1,)), ((513,), (1024,))],
)
def test_padding_buckets_are_the_powers_of_two_that_the_lengths_round_up_to(lengths, buckets):
    assert padding_buckets(lengths) == buckets


def test_a_dimension_of_three_lengths_varies_and_its_buckets_bound_the_programs():
    ledger = ledger_of(*(record(n, argument(length=500 + n), argument("y", 500 + n)) for n in range(1, 5)))
    (pattern,) = ledger.patterns
    assert (pattern.kind, pattern.path, pattern.compiles) == ("varying dimension", "x", 3)
    assert pattern.values == ("501", "502", "503", "504")
    assert pattern.buckets == (512,)
    assert pattern.cost_s == pytest.approx(3.0)
    assert pattern.advice == ("pad it to 512 and mask the padding: 1 program for every length up to 512, instead of 4")


def test_two_lengths_are_no_habit():
    assert ledger_of(*(record(n, argument(length=n)) for n in (1, 2))).patterns == ()


def test_a_static_argument_of_three_values_is_a_pattern():
    records = [record(n, argument(), statics=(NamedText(name="n", text=str(n)),)) for n in (1, 2, 3)]
    (pattern,) = ledger_of(*records).patterns
    assert (pattern.kind, pattern.values) == ("static argument", ("1", "2", "3"))


def test_a_function_made_anew_twice_is_a_pattern_and_names_what_it_closes_over():
    functions = [dataclasses.replace(STEP, serial=n, bound=(NamedText(name="rate", text=str(n)),)) for n in (1, 2, 3)]
    records = [record(n, argument(), function=function) for n, function in enumerate(functions, 1)]
    (pattern,) = ledger_of(*records).patterns
    assert (pattern.kind, pattern.path, pattern.compiles) == ("made anew", "rate", 2)
    assert pattern.sentence == "`step` is made anew, and jitted, 2 times, each time with another `rate`"
    assert pattern.advice == (
        "make the jitted function once, and pass `rate` as an argument, unless it decides shapes or Python control flow"
    )


def test_one_weak_type_flip_is_a_pattern():
    records = [
        record(1, argument("lr", type="float", weak_type=True, shape=())),
        record(2, argument("lr", type="jax.Array", shape=())),
    ]
    (pattern,) = ledger_of(*records).patterns
    assert pattern.kind == "weak type"
    assert pattern.advice.startswith("pass `lr` in one form always: `jnp.asarray(lr, dtype)`")


def one_device(device: int) -> Sharding:
    return Sharding(spec=None, tiles=(1,), device_ids=(device,), tile_of=(0,), kind="SingleDeviceSharding")


def split() -> Sharding:
    return Sharding(spec=("x",), tiles=(4,), device_ids=(0, 1, 2, 3), tile_of=(0, 1, 2, 3))


def whole() -> Sharding:
    return Sharding(spec=(None,), tiles=(1,), device_ids=(0, 1, 2, 3), tile_of=(0, 0, 0, 0))


def test_numpy_in_some_calls_and_a_committed_array_in_others_is_a_pattern():
    placed = argument(type="jax.Array", committed=True, given=one_device(0))
    (pattern,) = ledger_of(record(1, argument()), record(2, placed)).patterns
    assert pattern.kind == "numpy and jax.Array"


def came_back(place: Sharding, *results: str, **changes) -> tuple[RecordData, RecordData]:
    """A first compile with `x` split, and a second one with it as the first one returned it."""
    first = argument(type="jax.Array", committed=True, given=split(), mesh=MESH)
    outputs = tuple(
        ArrayLayout(path=path, dtype="float32", global_shape=(4,), sharding=place) for path in results or ("result",)
    )
    fed = (FedBack(path="x", serial=1, result=outputs[0].path if len(outputs) == 1 else ""),)
    records = record(1, first), record(2, dataclasses.replace(first, given=place), fed=fed, **changes)
    return tuple(dataclasses.replace(data, outputs=outputs) for data in records)  # type: ignore[return-value]


def test_an_argument_that_was_seen_to_be_a_result_is_fed_back():
    (pattern,) = ledger_of(*came_back(whole())).patterns
    assert (pattern.kind, pattern.path) == ("feedback", "x")
    assert pattern.sentence == "`x` comes back with another sharding: `result` of an earlier call has P(None)"
    assert pattern.advice == (
        "either start `x` as it comes back: `jax.device_put(x, NamedSharding(mesh, P(None)))` before the first call "
        "(16 B on each device), or set `out_shardings` of jit for `result` to the sharding that `x` starts with "
        "(4 B on each device)"
    )


def test_of_results_that_look_the_same_none_is_named():
    (pattern,) = ledger_of(*came_back(whole(), "result[0]", "result[1]")).patterns
    assert pattern.sentence == "`x` comes back with another sharding: a result of an earlier call has P(None)"
    assert pattern.advice == (
        "either start `x` as it comes back: `jax.device_put(x, NamedSharding(mesh, P(None)))` before the first call "
        "(16 B on each device), or set `out_shardings` of jit for what comes back to the sharding that `x` starts with "
        "(4 B on each device)"
    )


def test_an_argument_that_comes_back_smaller_is_to_start_so():
    first, second = came_back(split())
    started = tuple(dataclasses.replace(own, given=whole()) for own in first.key.arguments)
    first = dataclasses.replace(first, key=dataclasses.replace(first.key, arguments=started))
    (pattern,) = ledger_of(first, second).patterns
    assert pattern.advice == (
        "start `x` as it comes back: `jax.device_put(x, NamedSharding(mesh, P('x')))` before the first call"
    )


def test_an_argument_that_would_not_stay_as_it_came_back_is_not_to_start_so():
    first, second = came_back(whole(), outputs=(NamedText(name="result", text="P(None,)"),))
    moved = tuple(dataclasses.replace(output, sharding=split()) for output in second.outputs)
    (pattern,) = ledger_of(first, dataclasses.replace(second, outputs=moved)).patterns
    assert pattern.advice == "set `out_shardings` of jit for `result` to the sharding that `x` starts with"


def test_an_output_with_the_sharding_of_an_argument_says_nothing():
    first, second = came_back(whole())
    key = dataclasses.replace(second.key, fed=())
    assert ledger_of(first, dataclasses.replace(second, key=key)).patterns == ()


def test_eager_operations_that_compile_again_on_one_line_are_a_loop():
    add = FunctionKey(name="add", kind="primitive")
    records = [
        record(n, argument(length=n), function=add, name="add", origin="eager", transform="eager", site=7)
        for n in range(1, 5)
    ]
    (pattern,) = ledger_of(*records).patterns
    assert (pattern.kind, pattern.compiles) == ("eager loop", 4)
    assert pattern.sentence == "train.py:9 runs `add` outside any jit, and compiled 4 programs for that"


def test_programs_that_put_arrays_on_devices_are_no_operations():
    functions = FunctionKey(name="_multi_slice")
    records = [
        record(
            n,
            argument(length=n),
            function=functions,
            name="_multi_slice",
            origin="library",
            called="device_put",
            site=7,
        )
        for n in range(1, 6)
    ]
    assert ledger_of(*records).patterns == ()


def test_operations_have_the_names_the_line_calls_and_never_jaxs_own():
    functions = {"_where": "where", "_reduce_sum": "", "add": ""}
    records = [
        record(
            10 * n + i,
            argument(length=n),
            function=FunctionKey(name=name),
            name=name,
            origin="library",
            called=called,
            site=i,
        )
        for n in range(1, 5)
        for i, (name, called) in enumerate(functions.items())
    ]
    (pattern,) = ledger_of(*records).patterns
    assert (pattern.name, pattern.compiles) == ("where, add", 12)


@pytest.mark.parametrize("sites", [(1, 2, 3, 4, 5), (None,) * 5])
def test_a_line_that_runs_once_or_through_another_package_is_no_loop(sites):
    add = FunctionKey(name="add", kind="primitive")
    records = [
        record(n, argument(length=n), function=add, name="add", origin="eager", transform="eager", site=site)
        for n, site in enumerate(sites, 1)
    ]
    assert ledger_of(*records).patterns == ()


# ---------------------------------------------------------------- nothing differs


def test_a_program_that_was_seen_to_be_gone_was_dropped():
    reason = history(one := record(1, argument()), two := record(2, argument(), dropped=(1,))).reason(two)
    assert (reason.kind, reason.differences[0].kind, one.key.serial) == ("dropped", "evicted", reason.nearest)


def test_without_a_difference_and_with_the_program_still_there_the_reason_is_unknown():
    reason = history(record(1, argument()), two := record(2, argument())).reason(two)
    assert (reason.kind, reason.differences, reason.nearest) == ("unknown", (), 1)
    assert reason.sentence == "unknown: nothing that is recorded differs from an earlier compile of it"


def test_a_value_that_only_one_key_has_a_number_for_is_the_same():
    statics = [(NamedText(name="n", text="<Config>", serial=serial),) for serial in (7, None, 8)]
    keys = [record(n, argument(), statics=static).key for n, static in enumerate(statics, 1)]
    assert key_differences(keys[0], keys[1]) == ()
    (difference,) = key_differences(keys[0], keys[2])
    assert difference.sentence == "static argument `n`: another object, <Config> both times"


# ---------------------------------------------------------------- what each call copies


def copied(given: Sharding, wanted: Sharding, kind: str = "jax.Array") -> RecordData:
    layout = ArrayLayout(path="x", dtype="float32", global_shape=(4,), sharding=wanted)
    return record(1, argument(type=kind, committed=False, given=given), inputs=(layout,), mesh=MESH)


def test_an_array_that_arrives_with_another_sharding_is_named_with_both():
    (found,) = find_resharded(copied(one_device(0), split()))
    assert (found.path, found.given, found.wanted, found.size_bytes) == ("x", "device 0", "P('x') on x=4", 16)
    assert resharded_notes(copied(one_device(0), split())) == (
        "`x` arrives as device 0, the program takes P('x') on x=4: every such call copies it",
    )


def test_a_copied_argument_is_a_name_and_its_placement_a_spec_over_axes():
    (found,) = find_resharded(copied(one_device(0), split()))
    marked = [phrase for phrase in found.sentence.phrases if phrase.kind != "word"]
    assert marked == [name("x"), bare(spec("P('x')")), bare(axis("x"))]


@pytest.mark.parametrize(
    "data", [copied(split(), split()), copied(one_device(0), split(), kind="numpy.ndarray"), RecordData(name="f")]
)
def test_what_lies_right_or_has_to_be_sent_anyway_is_not_named(data):
    assert find_resharded(data) == ()


def copied_arrays(*given: Sharding) -> RecordData:
    count = range(len(given))
    layouts = tuple(
        ArrayLayout(path=f"p{i}", dtype="float32", global_shape=(4 * (i + 1),), sharding=split()) for i in count
    )
    arguments = (
        argument(f"p{i}", type="jax.Array", shape=(4 * (i + 1),), committed=False, given=given[i]) for i in count
    )
    return record(1, *arguments, inputs=layouts, mesh=MESH)


def test_arguments_that_arrive_alike_are_one_note_with_their_bytes():
    """1 to 5 times four floats are 16 + 32 + 48 + 64 + 80 = 240 bytes."""
    (note,) = resharded_notes(copied_arrays(*[one_device(0)] * 5))
    assert note == (
        "5 arguments arrive as device 0, and every such call copies them, 240 B; "
        "the largest, `p4`, is taken as P('x') on x=4"
    )
    assert note.paths == ("p0", "p1", "p2", "p3", "p4")


def test_a_note_names_the_function_that_returned_them_where_all_are_its():
    data = copied_arrays(*[one_device(0)] * 3)
    made = tuple(MadeBy(path=f"p{i}", serial=1, function="init") for i in range(3))
    (note,) = resharded_notes(dataclasses.replace(data, key=dataclasses.replace(data.key, made=made)))
    assert note.endswith("; `init` returned them: give it `out_shardings=`")
    (note,) = resharded_notes(dataclasses.replace(data, key=dataclasses.replace(data.key, made=made[1:])))
    assert "init" not in note


def test_many_ways_to_arrive_are_three_notes_and_a_count():
    notes = resharded_notes(copied_arrays(*[one_device(i % 4) for i in range(4)]))
    assert len(notes) == 4
    assert notes[-1] == "1 more argument with another sharding than the program takes"
    assert notes[-1].paths == ("p0",)


def test_notes_are_pickled_with_what_they_are_about():
    (note,) = resharded_notes(copied_arrays(one_device(0)))
    read = pickle.loads(pickle.dumps(note))
    assert (read, read.paths, read.phrases) == (note, note.paths, note.phrases)
