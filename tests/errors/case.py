"""A program that JAX refuses, what its explanation must say, and how each thing that it proposes is put in place.

The expectations of the cases are worked out by hand, before the program runs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import linecache
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import dispatch
from jax.experimental import io_callback
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi

DEVICES = np.array(jax.devices()[:8]).reshape(2, 4)
MESH = Mesh(DEVICES, ("data", "model"), axis_types=(AxisType.Auto,) * 2)
EX = Mesh(DEVICES, ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
REPLICATED = P()


def counted(*shape: int, spec: P = REPLICATED, mesh: Mesh = EX, dtype: Any = np.float32) -> Any:
    """An array that counts from 1, placed."""
    values = np.arange(1, int(np.prod(shape)) + 1, dtype=dtype).reshape(shape)
    return jax.device_put(values, NamedSharding(mesh, spec))


@dataclass(frozen=True, kw_only=True)
class Case:
    """One program.

    Attributes:
      name: what it is about.
      code: the program; what it computes is its variable `result`.
      kind: which error it must be explained as.
      says: what the sentence must contain.
      fits: the edits that must be proposed, in order; None where the test only applies them.
      want: what the mended program computes, with numpy; "" where a fit may change that.
      by_hand: for each piece of advice, its beginning, the changes of the program that follow it, each a text and what
        takes its place.
      mesh: the mesh that is set while it runs: None or `EX`.
      since: the first version of JAX that refuses it so.
      until: the first version of JAX that takes it, or refuses it otherwise; () for none.
      needs: a package that it imports.
      is_followed: whether advice is followed by hand, and not code alone.
    """

    name: str
    code: str
    kind: str
    says: tuple[str, ...] = ()
    fits: tuple[str, ...] | None = None
    want: str = ""
    by_hand: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    mesh: Mesh | None = None
    since: tuple[int, int, int] = (0, 8, 0)
    until: tuple[int, ...] = ()
    needs: str = ""
    is_followed: bool = True

    @property
    def is_here(self) -> bool:
        """Tells whether this JAX refuses it so, and what it imports is installed."""
        is_version = jax.__version_info__ >= self.since and (not self.until or jax.__version_info__ < self.until)
        return is_version and (not self.needs or importlib.util.find_spec(self.needs) is not None)

    @property
    def file(self) -> str:
        return f"/tmp/refused/{self.name.replace(' ', '_')}.py"


def read_cases() -> tuple[Case, ...]:
    """The cases of `programs.txt`, whose head says how one is written."""
    text = re.sub(r"^#.*\n", "", Path(__file__).with_name("programs.txt").read_text(), flags=re.M)
    if not hasattr(lax, "pcast"):
        # 0.8.1 has another function for it.
        text = re.sub(r"jax\.lax\.pcast\((.*?), to='varying'\)", r"jax.lax.pvary(\1)", text)
        text = text.replace("jax.lax.pcast", "jax.lax.pvary")
    return tuple(map(_read_case, text.strip().split("\n\n")))


def _read_case(text: str) -> Case:
    head, *lines = text.splitlines()
    kind, _, name = head[1:].partition("] ")
    facts: dict[str, Any] = {}
    for line in (line for line in lines if not line.startswith("    ")):
        key, _, words = line.partition(": ")
        match key:
            case "says" | "fit" | "line":
                key = "says" if key == "says" else "fits"
                facts[key] = (*facts.get(key, ()), words.replace("\\n", "\n")) if words != "none" else ()
            case "by hand":
                advice, _, change = words.partition(" => ")
                facts.setdefault("by_hand", {})[advice] = (_change(change),)
            case "and":
                facts["by_hand"][advice] += (_change(words),)
            case "since" | "until":
                facts[key] = tuple(map(int, words.split(".")))
            case "mesh":
                facts["mesh"] = EX
            case "advice":
                facts |= {"is_followed": False, "fits": facts.get("fits", ())}
            case _:
                facts[key] = words
    code = "".join(f"{line[4:]}\n" for line in lines if line.startswith("    "))
    return Case(name=name, kind=kind, code=code, **facts)


def _change(text: str) -> tuple[str, str]:
    old, _, new = text.replace("\\n", "\n").partition(" =>")
    return old, new.removeprefix(" ")


def value(want: str) -> Any:
    """The value that a mended program must compute."""
    return eval(want, {"np": np, "COUNT": np.arange(1.0, 65.0).reshape(8, 8)})


def run(case: Case, code: str, version: int = 0) -> dict[str, Any]:
    """The variables of a program that has run."""
    file = case.file.replace(".py", f"_{version}.py")
    linecache.cache[file] = (len(code), None, [f"{line}\n" for line in code.splitlines()], file)
    space: dict[str, Any] = {
        "jax": jax, "jnp": jnp, "np": np, "lax": lax, "P": P, "NamedSharding": NamedSharding, "MESH": MESH, "EX": EX,
        "counted": counted, "math": math, "io_callback": io_callback, "partial": partial,
    }  # fmt: skip
    with jax.set_mesh(case.mesh) if case.mesh is not None else contextlib.nullcontext():
        exec(compile(code, file, "exec"), space)
        jax.block_until_ready(jax.tree.leaves(space.get("result")))
    return space


def refusal(case: Case) -> BaseException:
    """The error that the program ends with."""
    try:
        run(case, case.code)
    except Exception as error:
        if case.kind == "callback":
            # JAX keeps what failed on a device until the process ends, and raises it there once more.
            dispatch.runtime_tokens.clear()
        return error
    raise AssertionError(f"JAX takes the program: {case.name}")


def ways(case: Case, explanation: pi.ErrorExplanation) -> list[str]:
    """The program with each fit in place; with all of them, where the explanation says that every one is needed."""
    fits = [fit for fit in explanation.fits if case.is_followed or fit.is_code]
    if not any(note.startswith("every") for note in explanation.notes):
        return [mended(case, case.code, fit, explanation) for fit in fits]
    code = case.code
    for fit in (fit for fit in fits if fit.is_code):
        code = mended(case, code, fit, explanation)
    return [code, *(mended(case, case.code, fit, explanation) for fit in fits if not fit.is_code)]


def mended(case: Case, code: str, fit: Any, explanation: pi.ErrorExplanation) -> str:
    """The program with a fit in place."""
    if not fit.is_code:
        changes = next((changes for start, changes in case.by_hand.items() if fit.edit.startswith(start)), None)
        assert changes is not None, f"nothing follows the advice {fit.edit!r}"
        for old, new in changes:
            assert old in code, f"{old!r} is not in the program"
            code = code.replace(old, new)
        return code
    assert "..." not in fit.edit
    # A keyword argument is Python where it is given.
    compile(fit.edit if not fit.edit.partition("=")[0].isidentifier() else f"f({fit.edit})", "fit", "eval")
    if fit.replaces:
        return _replaced(code, fit, explanation)
    if fit.spec is not None:
        changes = case.by_hand["SPEC"]
        return code.replace(changes[0][0], fit.edit)
    return f"{fit.edit}\n{code}"


def _replaced(code: str, fit: Any, explanation: pi.ErrorExplanation) -> str:
    lines, number = code.splitlines(), explanation.frame.line - 1 if explanation.frame else 0
    number = fit.line - 1 if fit.line is not None else number
    end = r"(?!\w|=[^=])" if fit.replaces[-1].isalnum() else ""
    pattern = re.compile(rf"(?<![\w.]){re.escape(fit.replaces)}{end}")
    for place in (number, *(() if fit.target else (*range(number, len(lines)), *range(number)))):
        changed = pattern.sub(lambda _: fit.edit, lines[place])
        if changed != lines[place]:
            return "\n".join([*lines[:place], changed, *lines[place + 1 :], ""])
    # A leaf of a tree that the line passes: it is assigned before.
    indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
    return "\n".join([*lines[:number], f"{indent}{fit.replaces} = {fit.edit}", *lines[number:], ""])
