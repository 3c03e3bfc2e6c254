"""What a `%pjit` line is taken for."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError

from pjit_inspect.ipython.command import OPTIONS, Command, ShowOptions, parse_command

TEXT = ShowOptions(view="text")


def parsed(line: str, *defined: str) -> Command:
    return parse_command(line, ShowOptions(), lambda name: name in defined)


@pytest.mark.parametrize(
    "word", ["on", "off", "log", "ledger", "forget", "show", "why", "shardings", "advice", "time", "help"]
)
def test_a_lone_subcommand_word_is_the_subcommand_even_when_it_is_a_variable(word):
    assert parsed(f" {word} ", word) == Command(action=word)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("on --watch", Command(action="on", watch=True)),
        ("on --limit 5", Command(action="on", limit=5)),
        ("on --limit=5 --watch", Command(action="on", watch=True, limit=5)),
        ("--no-times on --watch", Command(action="on", watch=True, options=ShowOptions(times=False))),
    ],
)
def test_on_takes_what_to_say_while_compiles_happen(line, command):
    assert parsed(line) == command


@pytest.mark.parametrize("line", ["help", "--help", "-h", "help --view text"])
def test_help_is_ours(line):
    assert parsed(line, "help").action == "help"


def test_help_with_something_behind_it_is_code_or_a_mistake():
    assert parsed("help(x)", "help") == Command(action="run", text="help(x)")
    with pytest.raises(UsageError, match="%pjit help takes nothing after it"):
        parsed("help me")


@pytest.mark.parametrize("line", ["on --limit 0", "on --limit many", "on --limit=-1", "on --limit"])
def test_a_limit_is_a_number_of_compiles(line):
    with pytest.raises(UsageError, match="--limit needs a number of compiles"):
        parsed(line)


@pytest.mark.parametrize("line", ["on --wath", "on now", "ledger train_step"])
def test_what_else_stands_after_on_or_ledger_is_refused(line):
    with pytest.raises(UsageError, match=r"%pjit (on|ledger) takes"):
        parsed(line)


@pytest.mark.parametrize("name", ["train_step", "<lambda>", "Model.__call__", "<lambda>.inner"])
def test_show_takes_one_name(name):
    assert parsed(f"show {name}") == Command(action="show", text=name)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("why", Command(action="why")),
        ("why train_step", Command(action="why", text="train_step")),
        ("why --line 12", Command(action="why", line=12)),
        ("why train_step --line 12", Command(action="why", text="train_step", line=12)),
        ("why --line=12 train_step", Command(action="why", text="train_step", line=12)),
        ("shardings <lambda>", Command(action="shardings", text="<lambda>")),
    ],
)
def test_why_and_shardings_take_a_name_and_why_a_line(line, command):
    assert parsed(line) == command


@pytest.mark.parametrize(
    "code",
    [
        "show(x)",
        "why(x)",
        "shardings = 3",
        "why - 1",
        "show (x)",
        "show - 1",
        "show -1",
        "show = 3",
        "log + 1",
        "log(x)",
        "(log)",
        "on, off",
        "y = f(x)",
        "f(x);",
        "-f(x)",
        "f(x",
        "f x",
        "a = 1; f(a)",
        "%time f(x)",
        "!ls",
        "f('--view text')",
        "x - --view",
    ],
)
def test_anything_else_is_code_for_python_to_judge(code):
    assert parsed(code, "f", "show") == Command(action="run", text=code)


def test_the_code_is_passed_on_as_it_was_typed():
    assert parsed("f( x,  'a  b' )  # note", "f").text == "f( x,  'a  b' )  # note"


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("--view text log", TEXT),
        ("--view=text log", TEXT),
        ("--no-times log", ShowOptions(times=False)),
        ("--no-times  --view  widget log", ShowOptions(view="widget", times=False)),
    ],
)
def test_options_stand_first(line, options):
    assert parsed(line) == Command(action="log", options=options)


@pytest.mark.parametrize(
    ("late", "early"),
    [
        ("show 0 --view text", "--view text show 0"),
        ("show --view=text --no-times", "--view text --no-times show"),
        ("log --no-times", "--no-times log"),
        ("why f --line 3 --view text", "--view text why f --line 3"),
        ("why --view text --line 3", "--view text why --line 3"),
        ("diff -1 -3 --view text", "--view text diff -1 -3"),
        ("show --view text f", "--view text show f"),
    ],
)
def test_options_of_a_subcommand_may_stand_behind_it(late, early):
    assert parsed(late) == parsed(early)
    assert parsed(early).action != "run"


def test_the_first_line_of_a_cell_takes_options_only():
    assert parsed("--cell --view text") == Command(action="cell", options=TEXT)
    with pytest.raises(UsageError, match=r"^%%pjit takes only options on its first line .*, not 'f\(x\)'$"):
        parsed("--cell f(x)", "f")


@pytest.mark.parametrize(("line", "action"), [("--measure f(x)", "run"), ("--view=text --measure --cell", "cell")])
def test_code_can_be_measured(line, action):
    command = parsed(line)
    assert (command.action, command.options.measure) == (action, True)
    assert not parsed(line.replace("--measure", "")).options.measure


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", r"%pjit needs one of on, off, log, show \[NAME\], why .*, shardings .*, or code to run; %pjit\? explains"),
        (
            "--vew text f",
            r"unknown option --vew \(did you mean '--view'\?\); the options are " + ", ".join(OPTIONS),
        ),
        ("--measure log", r"--measure is for code that runs \(%pjit --measure f\(x\)\), not for 'log'"),
        ("--measure why f", r"--measure is for code that runs .*, not for 'why'"),
        ("--x f", r"unknown option --x; the options are " + ", ".join(OPTIONS)),
        ("--view", r"--view needs one of text, html, widget, tree, facts, memory, time, not ''"),
        (
            "--view txt f",
            r"--view needs one of text, html, widget, tree, facts, memory, time, not 'txt' \(did you mean 'text'\?\)",
        ),
        ("lgo", r"'lgo' is neither a variable nor a subcommand \(did you mean 'log'\?\); %pjit needs on, off, log, .*"),
        ("zebra", r"'zebra' is neither a variable nor a subcommand; %pjit needs on, off, log, .*"),
        ("shwo f", r"unknown subcommand 'shwo' \(did you mean 'show'\?\); %pjit needs on, off, log, .*"),
        ("log f", r"%pjit log takes nothing after it, and options: %pjit --view text log"),
        ("show f --vew text", r"%pjit show takes the name or number of one record, .*"),
        ("log --view txt", r"--view needs one of .*, not 'txt' \(did you mean 'text'\?\)"),
        ("show a b", r"%pjit show takes the name or number of one record, .*"),
        ("why a b", r"%pjit why takes the name or number of one record and --line N, .*"),
        ("why --line", r"--line needs the number of a line of your source: %pjit why --line 12"),
        ("why --line x", r"--line needs the number of a line of your source, not 'x': %pjit why --line 12"),
        ("why f --line -3", r"--line needs the number of a line of your source, not '-3': .*"),
        ("shardings a --line 3", r"%pjit shardings takes the name or number of one record, .*"),
        ("wyh f", r"unknown subcommand 'wyh' \(did you mean 'why'\?\); .*"),
        ("f(x) --view text", r"options stand before the code: %pjit --view \.\.\."),
    ],
)
def test_a_mistake_gets_one_line_that_names_what_is_valid(line, message):
    with pytest.raises(UsageError, match=f"^{message}$") as raised:
        parsed(line, "f")
    assert "\n" not in str(raised.value)


def test_a_lone_variable_is_code():
    assert parsed("lgo", "lgo") == Command(action="run", text="lgo")
