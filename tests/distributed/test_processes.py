"""Real processes that run one program together: what `pi.merge` says of their records.

Two processes in the normal run, four as well with `--all`. All scenarios are those of `worker.py`; in each, the last
process is the odd one.
"""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from processes import run_processes

import pjit_inspect as pi
from pjit_inspect.parse.files.record_file import read_record, write_record


@pytest.fixture(scope="module", params=[2, 4])
def count(request: pytest.FixtureRequest) -> int:
    if request.param != 2 and not request.config.getoption("--all"):
        pytest.skip("four processes: scripts/test --all tests/distributed")
    return request.param


@pytest.fixture(scope="module")
def runs(count: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_processes(count, tmp_path_factory.mktemp(f"of_{count}"))


def the_difference(merged: pi.Merged):
    (found,) = merged.differences
    return found


# ---------------------------------------------------------------- processes that agree


def test_the_same_program_in_every_process_is_joined_and_nobody_differs(runs: Path, count: int):
    merged = pi.merge(runs / "same")
    assert merged
    assert [program.name for program in merged.programs] == ["mlp", "total"]
    everybody = dict.fromkeys(range(count), 1)
    assert [program.compiles for program in merged.programs] == [everybody] * 2
    assert [process.index for process in merged.processes] == list(range(count))
    assert f"{count} processes agree on 2 shared programs and their order" in str(merged)


def test_bytes_between_hosts_are_counted_where_a_collective_crosses_processes(runs: Path, count: int):
    mlp, total = pi.merge(runs / "same").programs
    # The mlp sums over `model`: two devices of one process. The sum is of one float32 over `data`, which has one device
    # of each process in each of its two groups: a ring of n sends 2 (n - 1) / n * 4 bytes over each of its n links.
    assert (mlp.collectives, mlp.host_bytes) == (1, 0)
    assert (total.collectives, total.host_bytes) == (1, 2 * count * (2 * (count - 1) * 4 // count))


def test_a_record_says_whose_it_is_and_whose_its_devices_are(runs: Path, count: int):
    for process in range(count):
        data = pi.load(runs / "same" / f"process-{process}-of-{count}" / "0001_total.pjit").data
        assert (data.process_index, data.process_count) == (process, count)
        assert [device.process for device in data.devices] == [k // 2 for k in range(2 * count)]
    record = pi.merge(runs / "same").record("mlp", process=count - 1)
    assert [row.is_cross_host for row in record.collectives] == [False]
    assert [row.is_cross_host for row in pi.merge(runs / "same").record("total", process=0).collectives] == [True]


def test_paths_callback_numbers_repeats_and_local_programs_may_differ(runs: Path, count: int):
    merged = pi.merge(runs / "legal")
    assert merged, str(merged)
    assert [program.name for program in merged.programs] == ["told", "first"]
    assert merged.programs[1].compiles == {**dict.fromkeys(range(count), 1), count - 1: 2}
    assert {record.process for program in merged.data.local for record in program.records} == {count - 1}


def test_records_of_two_processes_do_not_differ_from_each_other(runs: Path, count: int):
    for name in ("0000_mlp.pjit", "0001_total.pjit"):
        sides = [pi.load(runs / "same" / f"process-{process}-of-{count}" / name) for process in (0, count - 1)]
        diff = pi.diff(*sides)
        assert diff.is_empty, str(diff)
        assert not diff.data.is_incomplete
        assert str(diff.sentence).startswith("nothing differs: 1 collective, ")


def test_what_another_process_does_otherwise_is_in_the_comparison_of_both(runs: Path, count: int):
    sides = [pi.load(next((runs / "sharding").glob(f"process-{n}-of-{count}/*_first.pjit"))) for n in (0, count - 1)]
    diff = pi.diff(*sides)
    (argument,) = diff.arguments.changed
    assert {change.name: (change.before, change.after) for change in argument.changes}["spec"] == (
        ("data", None),
        (None, "data"),
    )


# ---------------------------------------------------------------- a process that differs


def test_a_program_that_one_process_has_more_is_named_with_its_place(runs: Path, count: int):
    found = the_difference(pi.merge(runs / "extra_program"))
    assert (found.kind, found.process, found.position, found.name) == ("extra", count - 1, 1, "extra")
    assert found.where is not None
    assert found.where.file.endswith("worker.py")
    assert "compiled `extra` (worker.py:" in found.sentence
    assert "which no other process did" in found.sentence


def test_a_program_that_one_process_lacks_is_named(runs: Path, count: int):
    found = the_difference(pi.merge(runs / "missing_program"))
    # Of two, the one with more is named: nobody can tell which is wrong.
    expected = ("extra", 0, "extra") if count == 2 else ("missing", count - 1, "extra")
    assert (found.kind, found.process, found.name) == expected
    assert found.position == 1


def test_another_shape_is_told_by_the_argument(runs: Path, count: int):
    found = the_difference(pi.merge(runs / "shape"))
    assert (found.kind, found.process, found.position, found.name) == ("program", count - 1, 1, "second")
    assert found.details[0] == (f"`x` is f32[{count * 8},32] on process 0, f32[{count * 16},32] on process {count - 1}")


def test_another_sharding_is_told_by_the_argument(runs: Path, count: int):
    found = the_difference(pi.merge(runs / "sharding"))
    mesh = f"data={count} x model=2"
    assert (found.kind, found.process, found.position) == ("program", count - 1, 0)
    assert found.details[0] == (
        f"`x` is sharded `P('data', None) on {mesh}` on process 0, `P(None, 'data') on {mesh}` on process {count - 1}"
    )


def test_another_order_is_told_by_the_two_programs(runs: Path, count: int):
    found = the_difference(pi.merge(runs / "order"))
    assert (found.kind, found.process, found.position) == ("order", count - 1, 0)
    assert f"process {count - 1} compiled `second`" in found.sentence
    assert "where process 0 compiled `first`" in found.sentence


def test_another_operation_is_told_with_its_source_line(runs: Path, count: int):
    found = the_difference(pi.merge(runs / "operation"))
    line = Path(__file__).with_name("worker.py").read_text().splitlines().index(
        "        return (x - 1.5 if IS_ODD else x + 1.5).sum()"
    ) + 1  # fmt: skip
    assert (found.kind, found.process, found.name) == ("program", count - 1, "step")
    assert "stablehlo.add" in found.details[0]
    assert f"(worker.py:{line}) on process 0" in found.details[0]
    assert "stablehlo.subtract" in found.details[0]


def test_another_order_of_devices_is_told(runs: Path, count: int):
    found = the_difference(pi.merge(runs / "devices"))
    assert (found.kind, found.process, found.name) == ("program", count - 1, "first")
    assert found.details[0].startswith("the order of the devices differs: 0 1 ")


def test_a_process_that_captured_nothing_is_named(runs: Path, count: int):
    found = the_difference(pi.merge(runs / "nothing"))
    assert (found.kind, found.process) == ("no records", count - 1)
    assert f"process {count - 1} saved a log without records" in found.sentence


def test_a_process_that_waits_for_ever_can_still_save_what_led_there(runs: Path, count: int):
    found = the_difference(pi.merge(runs / "waiting"))
    assert (found.kind, found.process, found.name) == ("no records", count - 1, "alone")


def test_of_a_process_that_was_killed_in_a_collective_the_others_records_name_it(runs: Path, count: int):
    found = the_difference(merged := pi.merge(runs / "died"))
    assert (found.kind, found.process, found.name) == ("no records", count - 1, "alone")
    assert found.sentence.startswith(f"process {count - 1} has no file or folder among those given")
    assert merged.notes == ()
    for process in range(count - 1):
        (path,) = (runs / "died" / f"process-{process}-of-{count}").glob("*_alone.pjit")
        rows = pi.load(path).collectives
        assert {row.kind for row in rows} == {"all-reduce"}
        assert any(row.is_cross_host for row in rows)


# ---------------------------------------------------------------- files that are not what they should be


@pytest.fixture
def copy(runs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(runs / "same", tmp_path / "same"))


def test_a_process_whose_files_are_not_given_is_named(copy: Path, count: int):
    shutil.rmtree(copy / f"process-{count - 1}-of-{count}")
    found = the_difference(pi.merge(copy))
    assert (found.kind, found.process) == ("no records", count - 1)
    assert "no file or folder among those given" in found.sentence


def test_a_damaged_file_is_left_out_named_and_taken_into_account(copy: Path, count: int):
    damaged = copy / f"process-{count - 1}-of-{count}" / "0000_mlp.pjit"
    damaged.write_bytes(damaged.read_bytes()[:500])
    merged = pi.merge(copy)
    assert len(merged.notes) == 1
    assert str(damaged) in merged.notes[0]
    found = the_difference(merged)
    assert (found.process, found.name) == (count - 1, "mlp")
    assert f"1 file of process {count - 1} could not be read" in found.sentence


def test_a_process_of_which_no_file_can_be_read_is_named(copy: Path, count: int):
    for path in (copy / f"process-0-of-{count}").glob("*.pjit"):
        path.write_bytes(b"PK\3\4")
    merged = pi.merge(copy)
    assert "process 0 has no readable record (2 could not be read)" in the_difference(merged).sentence
    assert len(merged.notes) == 2


def test_records_of_another_run_are_left_out_and_named(copy: Path, count: int):
    mine = copy / "process-0-of-2" / "0000_mlp.pjit" if count == 2 else copy / "process-0-of-4" / "0000_mlp.pjit"
    data = read_record(mine)
    assert data.key is not None
    earlier = replace(data.key, process="another", serial=7, began_s=1.0, ended_s=2.0)
    write_record(replace(data, name="old", key=earlier), mine.with_name("0009_old.pjit"))
    write_record(replace(data, name="old", key=earlier, process_count=9), mine.with_name("0010_old.pjit"))
    merged = pi.merge(copy)
    assert merged, str(merged)
    assert merged.notes == (
        "left out: 1 record of process 0, made by another Python process than its newest records: another run",
        f"left out: 1 record of process 0 of 9, as the newest run has {count}",
    )
    assert [program.name for program in merged.programs] == ["mlp", "total"]


@pytest.mark.parametrize("hours", [1, -1])
def test_a_clock_that_is_an_hour_off_changes_nothing_but_is_noted(copy: Path, count: int, hours: int):
    before = pi.merge(copy)
    for path in (copy / f"process-{count - 1}-of-{count}").glob("*.pjit"):
        data = read_record(path)
        assert data.key is not None
        began_s, ended_s = (seconds + hours * 3600 for seconds in (data.key.began_s, data.key.ended_s))
        write_record(replace(data, key=replace(data.key, began_s=began_s, ended_s=ended_s)), path)
    merged = pi.merge(copy)
    assert (merged.differences, len(merged.programs)) == ((), 2)
    assert [program.compiles for program in merged.programs] == [program.compiles for program in before.programs]
    early = [count - 1] if hours < 0 else list(range(count - 1))
    assert [note.partition(" made its last record ")[0] for note in merged.notes] == [f"process {p}" for p in early]
    assert all(note.endswith("they may be of different runs, or their clocks differ") for note in merged.notes)


def test_a_process_that_ended_long_before_another_began_is_noted(copy: Path, count: int):
    for path in (copy / f"process-0-of-{count}").glob("*.pjit"):
        data = read_record(path)
        assert data.key is not None
        write_record(replace(data, key=replace(data.key, began_s=100.0, ended_s=200.0)), path)
    (note,) = pi.merge(copy).notes
    assert note.startswith("process 0 made its last record ")
    assert note.endswith("they may be of different runs, or their clocks differ")


def test_a_file_of_something_else_is_left_out_and_named(copy: Path):
    with zipfile.ZipFile(copy / "other.pjit", "w") as archive:
        archive.writestr("notes.txt", "no record")
    merged = pi.merge(copy)
    assert merged
    assert len(merged.notes) == 1
    assert "other.pjit" in merged.notes[0]


def test_files_may_be_given_one_by_one_in_any_order(copy: Path):
    files = sorted(copy.rglob("*.pjit"), reverse=True)
    assert pi.merge(files).data.programs[0].name == "mlp"
    assert pi.merge(iter(files))
