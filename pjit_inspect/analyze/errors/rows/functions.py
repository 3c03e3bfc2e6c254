"""The table's rows of what functions do: gradients, `vmap` and `pmap`, shapes that do not go together, callbacks to Python.

From 0.9 on `pmap` is a jit and a `shard_map`. Effects that must keep their order are in `analyze.errors.rows.calls`.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `api.py`, `api_util.py`, `custom_derivatives.py`, `lax/lax.py`,
`lax/control_flow/loops.py`, `interpreters/batching.py`, `interpreters/pxla.py`, `pmap.py`, `shard_map.py`, `callback.py`,
`ffi.py`, `ad_checkpoint.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pjit_inspect.analyze.errors import specs, ways
from pjit_inspect.analyze.errors.printed import SHAPE, read_integers
from pjit_inspect.analyze.errors.table import Facts, Propose, Reader, Way, row
from pjit_inspect.analyze.errors.ways import first_accepted, listed
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, place, say

_MOST = 4

# ---------------------------------------------------------------- vmap

_ARGUMENT = re.compile(
    r"(?:had|has) size (\d+)(?:: |, e\.g\. )axis (\d+) of (?:argument|kwarg) ?(\S{1,200}?)(?: of type (\S{1,200}?))?(?=;|\n|$| of)"
)


def _lengths(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    found = [(one[3], int(one[1]), one[2]) for one in _ARGUMENT.finditer(match.string)]
    dimensions, is_all = (
        {place for _, _, place in found},
        "most axes" not in match.string and "some axes" not in match.string,
    )
    where = f"dimension {found[0][2]}" if len(dimensions) == 1 else "one dimension"
    facts = {"words": _has((which, length) for which, length, _ in found[:_MOST]), "dimension": where}
    return {**facts, "fits": tuple(_in_axes(found, scene)) if is_all else ()} if len(found) > 1 else None


def _has(lengths: Iterable[tuple[str, int]], last: str = " and ") -> Sentence:
    return joined([say("{} has {}", name(which), f"{length:,}") for which, length in lengths], last)


def _in_axes(found: Sequence[tuple[str, int, str]], scene: ErrorScene) -> Iterator[Fit]:
    """`in_axes` that leaves some arguments as they are: fewest first, three at most."""
    count, call = len([argument for argument in scene.arguments if argument.key.isdigit()]), ways.call_of(scene, "vmap")
    if len(found) != count or count > 6 or not call or "in_axes=" in call:
        return
    some = itertools.chain.from_iterable(itertools.combinations(range(count), n) for n in range(1, count))
    fitting = (left for left in some if len({one[1] for place, one in enumerate(found) if place not in left}) == 1)
    for left in itertools.islice(fitting, 3):
        axes = ", ".join("None" if place in left else "0" for place in range(count))
        kept = joined([code(found[place][0]) for place in left], comma=" and ")
        effect = say("{} {} the same in every call", kept, "is" if len(left) == 1 else "are")
        yield Fit(edit=f"{call[:-1].rstrip().rstrip(',')}, in_axes=({axes}))", effect=effect, replaces=call)


def _range(match: re.Match[str], scene: ErrorScene) -> Facts:
    rank, shape = int(match["n_rank"]), read_integers(match["shape"])
    same = [array.name for array in scene.operands if array.shape == shape]
    # A number of Python's is no array.
    numbers = [one.text for one in scene.arguments if one.type in ("int", "float", "bool") and one.text]
    same = same or ([] if rank else numbers)
    call = ways.call_of(scene, match["function"])
    written = re.search(r"in_axes\s*=\s*(-?\d+)(?=[,)])", call)
    edits = [code(call.replace(written[0], f"in_axes={place}")) for place in range(rank)] if written else []
    each = tuple({"edit": edit, "to": place} for place, edit in enumerate(edits))
    facts: dict[str, object] = {"what": name(same[0])} if len(same) == 1 else {}
    facts |= {"last": f"0 to {rank - 1}" if rank > 1 else "0"} if rank else {}
    return facts | {
        "has": specs.counted(rank, "dimension") if rank else "no dimension", "each": each, "call": code(call),
    }  # fmt: skip


# ---------------------------------------------------------------- pmap

_AXIS = "_internal_pmap_axis_name"
_UNEVEN = (
    r".*?(?:implies that array axis \d{1,4} is partitioned (?P<parts>\d{1,12}) times, but the dimension size is (?P<length>\d{1,18})"
    r"|implies that the global size of its dimension \d{1,4} should be divisible by (?P<parts2>\d{1,12}), but it is equal to (?P<length2>\d{1,18})"
    r"|maps array axis \d{1,4} \(of size (?P<length3>\d{1,18})\) to mesh ax[^\n]{0,800}?, but (?P<parts3>\d{1,12}) does not evenly divide)"
)
_SLICES = (
    rf"(?:cannot select an axis to squeeze out which has size not equal to one, got shape=(?P<local>{SHAPE}) and dimensions=\((?P<n_dimension>\d{{1,4}}),\)$"
    r"|(?P<certain>compiling computation (?:`.{0,300}?` )?that requires (?P<asked>\d{1,9}) (?:logical devices|replicas), but only (?P<devices>\d{1,9}) XLA devices are available"
    r"|pmap got inconsistent sizes for array axes to be mapped:\n))"
)


def _pmap(read: Reader | None = None) -> Reader:
    """Reads an error of `pmap` only: most words are said of a jit, a `shard_map` or a `squeeze` of the user's, too.

    First where the arrays that are mapped have several lengths, then what `read` makes of one.
    """

    def checked(match: re.Match[str], scene: ErrorScene) -> Facts | None:
        if not (scene.is_mapped or _AXIS in match.string or match.groupdict().get("certain")):
            return None
        dimension, arrays, lengths = _mapped(match, scene)
        facts: dict[str, object] = {"arrays": arrays, "n_dimension": dimension}
        if read is not None and len(set(lengths)) > 1:
            words = _has(zip([array.name for array in arrays[:_MOST]], lengths, strict=False), ", ")
            more = f", {len(arrays) - _MOST} more follow" if len(arrays) > _MOST else ""
            return facts | {"lengths": say("{}{}", words, more)}
        return facts | dict(read(match, scene) or {} if read is not None else {})

    return checked


def _mapped(match: re.Match[str], scene: ErrorScene) -> tuple[int, tuple[ErrorArray, ...], list[int]]:
    """The dimension that is mapped, the arrays that have it, and their lengths along it."""
    dimension = int(match.groupdict().get("n_dimension") or 0)
    arrays = tuple(array for array in scene.operands if len(array.shape or ()) > dimension)
    return dimension, arrays, [(array.shape or ())[dimension] for array in arrays]


def _named(match: re.Match[str], scene: ErrorScene, length: int) -> dict[str, object]:
    """The array of a length, where that is one."""
    _, arrays, lengths = _mapped(match, scene)
    own = [array for array, held in zip(arrays, lengths, strict=True) if held == length]
    return {"what": name(own[0].name), "arrays": (own[0],), "shape": own[0].shape} if len(own) == 1 else {}


def _uneven(match: re.Match[str], scene: ErrorScene) -> Facts:
    """A length that is no multiple of the devices: of one argument, or of one of several."""
    length, parts = (int(next(filter(None, match.group(key, f"{key}2", f"{key}3")))) for key in ("length", "parts"))
    text = scene.arguments[0].text if len(scene.arguments) == 1 else ""
    several = {"several": "all"} if len(scene.arguments) > 1 else {"alone": f"{parts:,}"}
    named = {"what": code(text)} | _named(match, scene, length) if text else _named(match, scene, length)
    return {**named, "arrays": _mapped(match, scene)[1], "n": length, "n_parts": parts, **several}


def _sliced(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """A length that is not that of the devices, with one slice for each; of arrays that are not known, a device's part."""
    dimension, arrays, _ = _mapped(match, scene)
    local = read_integers(match["local"] or "()")
    length, count = (int(match["asked"]), int(match["devices"])) if match["asked"] else (0, 0)
    if not count and len(local) > dimension and local[dimension]:
        # The message has the length of one device's part alone: the arrays that are like it in all other dimensions, and
        # a multiple of it in this one, must agree on a length.
        before, after = local[:dimension], local[dimension + 1 :]
        shapes = [array.shape or () for array in arrays]
        like = [one for one in shapes if (one[:dimension], one[dimension + 1 :]) == (before, after)]
        same = {one[dimension] for one in like if one[dimension] % local[dimension] == 0}
        length = same.pop() if len(same) == 1 else 0
        count = length // local[dimension]
    if not count or not (scene.is_complete or match["asked"]):
        texts = [code(argument.text) for argument in scene.arguments]
        own = {"part": texts[0], "alone": texts[0]} if len(texts) == 1 else {"part": "one of them"}
        return {"parts": True, "arrays": (), **own, **({"n_each": local[dimension]} if len(local) > dimension else {})}
    each, is_whole, own = length // count, length % count == 0, _named(match, scene, length)
    shape = own.get("shape")
    local = specs.shape_words((each, *shape[1:]) if isinstance(shape, tuple) else (each,))
    whole = {"local": local, "sizes": f"{count:,} x {each:,}"} if is_whole and dimension == 0 else {}
    gain = f"a device may then hold {each} of them" if is_whole else "with no `pmap` at all"
    return {"arrays": arrays, **own, "n": length, "n_parts": count, "gain": gain, **whole}


# ---------------------------------------------------------------- gradients

_RETURNS = {"(": "a tuple", "[": "a list", "{": "a dict"}


def _output(match: re.Match[str], scene: ErrorScene) -> Facts:
    if shape := match["shape"]:
        callee = ways.call_of(scene, "grad").partition("(")[0]
        jacobian = {"callee": code(callee), "jacobian": code(callee.removesuffix("grad") + "jacrev")} if callee else {}
        return {"result": say("an array of shape {}", code(shape)), **jacobian}
    value = match["value"]
    result = code("None") if value.startswith("None") else _RETURNS.get(value[:1], "no array")
    return {"result": result, **({"pair": "pair"} if value.startswith("(") else {})}


def _integer(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = [array.name for array in scene.operands if array.dtype == match["code_type"]]
    number = scene.arguments[0].text if len(scene.arguments) == 1 else ""
    if len(own) == 1:
        return {"what": name(own[0]), "name_int": name(own[0]), "name_written": name(ways.replaced_text(own[0], scene))}
    if own or not re.fullmatch(r"-?\d+", number):
        return {}
    return {"what": code(number), "real": code(re.sub(rf"\({number}\)$", f"({number}.)", scene.expression))}


# ---------------------------------------------------------------- shapes


def _shapes(arrays: Sequence[ErrorArray]) -> Sentence:
    return joined([say("{} is {}", name(one.name), code(specs.shape_words(one.shape))) for one in arrays])


def _products(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = tuple(array for array in scene.operands if array.shape is not None)
    both = " and ".join(text.strip("(),") for text in (match["one"], match["other"]))
    facts = {"words": say("{} ({})", both, _shapes(own)), "arrays": own, "fits": tuple(_transposed(own, scene))}
    return facts if len(own) == 2 else {"words": both}


def _transposed(own: Sequence[ErrorArray], scene: ErrorScene) -> Iterator[Fit]:
    own = [array for array in own if len(array.shape or ()) == 2]
    if len({array.name for array in own}) < 2 or scene.operator not in ("@", "matmul", "dot"):
        return
    for number, (array, other) in enumerate((own, own[::-1])):
        if array.name.isidentifier() and (array.shape or ())[number] == (other.shape or ())[number]:
            effect, written = (
                say("multiplies with {} transposed", name(array.name)),
                ways.replaced_text(array.name, scene),
            )
            yield Fit(edit=f"{array.name}.T", effect=effect, replaces=written, target=array.name)


def _broadcast(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    own = tuple(array for array in scene.operands if array.shape is not None)
    where, lengths = found = _unlike([read_integers(one) for one in re.findall(r"\([\d, ]*\)", match["shapes"])])
    is_known = found == _unlike([array.shape or () for array in own])
    return {
        "where": where, "arrays": own if is_known else (), "fits": _spread(own, scene),
        "lengths": say("{} ({})", lengths, _shapes(own)) if is_known else lengths,
    } if where else None  # fmt: skip


def _unlike(shapes: Sequence[tuple[int, ...]]) -> tuple[str, str]:
    """The first dimension along which shapes do not broadcast, and their lengths; "" where they do."""
    rank = max(map(len, shapes), default=0)
    for dimension, lengths in enumerate(zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True)):
        if len({*lengths} - {1}) > 1:
            return f"dimension {dimension}", joined(list(map(str, dict.fromkeys(lengths))))
    return "", ""


def _ranks(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = tuple(array for array in scene.operands if array.shape is not None)
    return {"shapes": say(" ({})", _shapes(own)) if own else "", "arrays": own, "fits": _spread(own, scene)}


def _spread(own: Sequence[ErrorArray], scene: ErrorScene) -> Propose:
    """An operand of fewer dimensions with new ones, of length 1, in other places."""
    rank = max((len(array.shape or ()) for array in own), default=0)
    fits = [
        Fit(
            edit=f"{array.name}[{', '.join(':' if place in kept else 'None' for place in range(rank))}]",
            effect=say("{} then lies along dimension {}", name(array.name), " and ".join(map(str, kept))),
            replaces=ways.replaced_text(array.name, scene), target=array.name,
        )
        for array in own if len(array.shape or ()) < rank
        for kept in itertools.combinations(range(rank), len(array.shape or ()))
    ]  # fmt: skip
    return lambda judge: first_accepted(fits, judge)


def _labelled(match: re.Match[str], scene: ErrorScene) -> Facts:
    """Reads how long a label of `einsum` is in each operand; JAX's message may take one for the other."""
    terms, held = scene.subscripts.partition("->")[0].replace(" ", "").split(","), dict[int, list[str]]()
    texts = ways.texts_of(scene)
    for number, term in enumerate(terms, start=1):
        for array in scene.operands:
            if array.name.strip("()") == texts.get(str(number), "").strip("()") and match["code_label"] in term:
                before, dots, _ = term.partition("...")
                place = term.index(match["code_label"])
                place = place - len(term) if dots and place >= len(before) else place
                held.setdefault((array.shape or ())[place], []).append(array.name)
    lengths = sorted([int(match["one"]), int(match["other"])])
    if sorted(held) != lengths:
        return {"words": say("{} long in one operand and {} in another", *lengths)}
    words = joined([say("{} long in {}", length, listed(names)) for length, names in held.items()], ", ")
    return {
        "words": words,
        "arrays": tuple(own for own in scene.operands if any(own.name in names for names in held.values())),
    }


def _sizes(match: re.Match[str], scene: ErrorScene) -> Facts:
    same = [array.name for array in scene.operands if array.shape == read_integers(match["code_shape"])]
    return {"what": name(same[0])} if len(same) == 1 else {}


# ---------------------------------------------------------------- callbacks

_LONGEST = 160
_START = r"INTERNAL: (?:Compute error: )?CpuCallback error calling callback: Traceback \(most recent call last\):\n"
_FRAME = re.compile(r'  File "([^"\n]{1,1000})", line (\d{1,9}), in (\S{1,300})$')
_RAISED = re.compile(r"([A-Za-z_][\w.]{0,200})(?:: ([^\n]{0,400}))?$")


def _declared(match: re.Match[str], scene: ErrorScene) -> Facts:
    given, wanted = (re.findall(r"\d+", match[side]) for side in ("given", "wanted"))
    pairs = [(int(part), int(length)) for part, length in zip(given, wanted, strict=False)]
    is_part = (
        given != wanted and len(given) == len(wanted) and all(part and not length % part for part, length in pairs)
    )
    notes = ("within `jax.shard_map` a callback sees one device's part, and what is declared is that part's shape",)
    which = {} if match["number"] == "0" else {"which": f"result {match['number']}"}
    words = {side: code(re.sub(r"\((.*?),?\)", r"[\1]", match[side].replace(" ", ""))) for side in ("given", "wanted")}
    return {**which, **words, "notes": notes if is_part and match["given"].startswith("(") else ()}


def _raised(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """Reads what the called function raised: the last line of the traceback, and its place."""
    lines = [line for line in match.string[match.end() :].splitlines() if line.strip()]
    ends = [number for number, line in enumerate(lines) if line.startswith("  File ")]
    # The exception stands after the last frame, its line and perhaps the marks below that.
    after = [line for line in lines[ends[-1] + 1 :] if not line.startswith(" ")] if ends else []
    raised, frame = _RAISED.match(after[0]) if after else None, _FRAME.match(lines[ends[-1]]) if ends else None
    if raised is None or frame is None or "/jax/_src/" in frame[1].replace("\\", "/"):
        return None
    message = raised[2] or ""
    said = f"{raised[1]}: {message}" if message and len(message) <= _LONGEST and "`" not in message else raised[1]
    return {
        "name": name(frame[3]), "said": code(said), "line": frame[2], "notes": (say("that is in {}", place(frame[1])),),
    }  # fmt: skip


_ONE_LENGTH = "`pmap` needs one length along dimension {n_dimension} of all it maps: {lengths}"

_ALL = Way(
    "give `pmap` `in_axes` with `None` for what is the same on all devices{?lengths}",
    "it is then not mapped, but copied",
)

PMAP_ROWS = (
    row("pmap", r"Specified axis_size (?P<n_asked>\d{1,9}) doesn't match received axis_size (?P<n_own>\d{1,9})\.$",
        "`axis_size` is {n_asked}, but the arrays that `pmap` maps have {n_own}",
        Way("leave `axis_size` out", "`pmap` then takes {n_own} from the arrays"), facts=_pmap()),
    row("pmap", r".*?(?:is only valid for values of rank at least \d{1,4}, but was applied to a value of rank 0|_specs entry which is too long to be compatible)",
        "`pmap` maps dimension 0 of every argument, and one of them is a scalar",
        Way("give `pmap` `in_axes` with `None` for that argument", "every device then gets the same value"), facts=_pmap()),
    row("pmap", _UNEVEN,
        # With one length for all of them, `pmap` takes as many devices.
        (_ONE_LENGTH, "{what|an argument} has {n} along dimension 0, and `pmap` gives it to {n_parts} devices: {n/n_parts}"),
        _ALL,
        Way("give `pmap` `in_axes` with `None` for what is the same on {several} devices", "it is then not mapped, but copied"),
        Way("give it {alone} along dimension 0", "one slice for each device"),
        Way("use `jax.jit` of the `jax.vmap` of the function", "it takes any length, on {alone} devices or on one"), facts=_pmap(_uneven)),
    row("pmap", _SLICES,
        (_ONE_LENGTH, "{what|an argument} has {n} along dimension {n_dimension}, and `pmap` gives one to each of {n_parts} devices: {n/n_parts}",
         "the arrays that `pmap` maps do not have one slice for each device along the mapped dimension: {part} has {n_each}",
         "the arrays that `pmap` maps do not have one slice for each device along the mapped dimension{?parts}"), _ALL,
        Way("reshape dimension 0 from {n} to {sizes} and give `pmap` the `jax.vmap` of the function", "a device then maps over {local}"),
        Way("use `jax.jit` of the `jax.vmap` of the function, with the array placed on a mesh", "{gain}"),
        Way("use `jax.jit` of the `jax.vmap` of the function, with {alone} placed on a mesh", "a device may then hold {n_each} of them"), facts=_pmap(_sliced)),
)  # fmt: skip

FUNCTION_ROWS = (
    row("mapped", r"vmap got inconsistent sizes for array axes to be mapped:\n",
         "`vmap` maps {dimension} of every argument, and their lengths differ: {words}",
         Way("give `vmap` `in_axes` with `None` for what is the same in every call", "it is then not mapped", is_last=True), facts=_lengths),
    row("mapped", r"(?P<function>vmap|pmap) was requested to map its argument along axis (?P<n>-?\d+), which implies that its rank should be at least \d+, but is only (?P<n_rank>\d+) \(its shape is (?P<shape>\([\d, ]*\))\)",
         "`{function}` maps dimension {n} of every argument, and {what|an argument} has {has}",
         Way("{edit}", "maps dimension {to}", replaces="{call}"), Way("choose `in_axes` from {last}", "or `None` for an argument that is not mapped", is_last=True), Way("give `{function}` `in_axes` with `None` for that argument", "it is then the same in every call"), facts=_range),
    row("mapped", r"(?P<function>vmap|pmap) in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments passed to the function, but got len\(in_axes\)=(?P<given>\d+), len\(args\)=(?P<wanted>\d+)",
         "`in_axes` has the length {given}, and the function got {wanted} arguments",
         Way("give `in_axes` the length {wanted}", "`None` for an argument that is not mapped")),
    row("mapped", r"(?P<function>vmap|pmap) must have at least one non-None value in in_axes",
         "`in_axes` is `None` for every argument, so `{function}` maps nothing",
         Way("give a dimension for one argument", "or `axis_size`")),
    row("mapped", r"at vmap out_axes(?P<code_path>\S*), got axis spec None but output was batched on axis (?P<number>\d+)",
         "`out_axes` is `None` for a result that is another one for each element",
         Way("give `out_axes` a number", "the dimension where the results are stacked"), Way("reduce the result inside, over the `axis_name` of the `vmap`", "it is then the same for all")),
    row("mapped", r"Mapped away dimension of inputs passed to vmap should be sharded the same\. Got inconsistent axis specs: (?P<axis>.{1,100}?) vs (?P<axis_other>.{1,100})$",
         "`vmap` needs one split of the dimension that it maps: one argument has it over {axis}, another over {axis_other}",
         Way("bring them to one split with `jax.sharding.reshard`", "before they are mapped")),
    row("prefix", r"vmap (?P<code_which>in_axes|out_axes) must be an int, None, or .{1,100}, but got (?P<code_value>.{1,100})\.",
         "{code_which} of `vmap` takes numbers and `None`, one for each argument, and got {code_value}",
         Way("give a number, or a tuple with one for each argument", "`None` for what is not mapped")),
    row("gradient", r"Gradient only defined for scalar-output functions\. Output (?:had shape: (?P<shape>\([\d, ]*\))|was (?P<value>.*))",
         "`jax.grad` needs a function that returns one number, and it returns {result}",
         Way("{jacobian}", "the derivative of every element", replaces="{callee}"), Way("let the function return a sum or a mean", "the gradient of a loss"), Way("give `jax.grad` `has_aux=True`", "if the function returns a {pair}: the loss, and what else is wanted"), facts=_output),
    row("gradient", r"(?P<function>grad|value_and_grad|jacrev|jacfwd|vjp)? ?requires real-(?: or complex-)?valued inputs \(input dtype that is a sub-dtype of np\.\w+\), but got (?P<code_type>\w+)\.",
         "`{function}` needs real numbers, and {what|the argument} is {code_type}",
         Way("{name_int}.astype('float32')", "a derivative needs real numbers", replaces="{name_written}"),
         Way("{real}", "a derivative needs real numbers", replaces="{expression}"), Way("choose other arguments with `argnums`", "integers, such as token ids, have no gradient"), facts=_integer),
    row("gradient", r"(?P<function>\w+) requires real-valued outputs \(output dtype that is a sub-dtype of np\.\w+\), but got (?P<code_type>\w+)\.",
         "`{function}` needs a function that returns a real number, and it returns {code_type}",
         Way("return the loss before it is rounded or cast", "what is {code_type} has no gradient")),
    row("gradient", r"differentiating with respect to argnums=(?P<code_numbers>\S{1,60}) requires at least (?P<wanted>\d+) positional arguments to be passed by the caller, but got only (?P<given>\d+)",
         "`argnums` is {code_numbers}, counted from 0, and the call has {given} positional arguments",
         Way("give {wanted} arguments by position, or choose `argnums` below {given}", "keywords are not counted")),
    row("gradient", r"Reverse-mode differentiation does not work for lax\.while_loop or lax\.fori_loop with dynamic start/stop values",
        ("a gradient goes through {expression}, a loop whose number of steps is not known before it runs: JAX cannot keep what each step needs",
         "a gradient goes through a `while_loop`, or a `fori_loop` whose bounds are traced: JAX cannot keep what each step needs"),
        Way("use `jax.lax.scan`, or `jax.lax.fori_loop` with plain integers as its bounds", "the number of steps is then known"), Way("use `jax.jvp` or `jax.jacfwd`", "forward derivatives need nothing kept")),
    row("gradient", r"No (?P<what>VJP|JVP) defined for (?P<code_kind>\w+) function (?P<name>\S+) using (?P<code_method>\w+)",
         "{name} is a {code_kind} without its derivative: {code_method} was not called",
         Way("call {code_method} of {name}", "it says what the derivative is")),
    row("gradient", r"Custom VJP bwd rule must produce an output with the same container \(pytree\) structure as the args tuple.*?bwd output structure PyTreeDef\((?P<code_given>.*?)\) for primal input structure PyTreeDef\((?P<code_wanted>.*?)\)\.",
         "the `bwd` function returns {code_given}, and must return one gradient for each argument: {code_wanted}",
         Way("return a tuple with one entry for each argument", "`None` for one that has no gradient")),
    row("gradient", r"Custom VJP bwd rule must produce an output with the same type as the args tuple.*? at output(?P<code_place>\S*) the bwd rule produced an output of type (?P<code_given>\S+) corresponding to an input of type (?P<code_wanted>[^\s,]+(?:,\d+)*\]?\S*?),? so",
         "the `bwd` function returns {code_given} at {code_place}, and the argument there is {code_wanted}: a gradient has the type of its argument",
         Way("return {code_wanted} there", "sum or broadcast to its shape")),
    row("gradient", r"unexpected JAX type \(e\.g\. shape/dtype\) for argument to VJP function: got (?P<code_given>\S+), but expected (?P<code_wanted>\S+) because",
         "the function that `jax.vjp` returned takes {code_wanted}, as the result is, and got {code_given}",
         Way("give it an array like the result", "as `jnp.ones_like` makes it")),
    row("gradient", r"unexpected tree structure\.\s+The argument to a VJP function returned by `jax\.vjp` must match .*?\* (?P<where>\S+) was an? (?:<class ')?(?P<was>.{1,200}?)(?:'>)? in the original output, but an? (?:<class ')?(?P<now>.{1,200}?)(?:'>)? here",
         "the function that `jax.vjp` returned takes a tree like the result, which was a {was}, and got a {now}",
         Way("give it a tree with the keys and lengths of the result", "one cotangent for each array")),
    row("argument", r"scan got no values to scan over and `length` not provided\.",
         "{expression} has no arrays to go over, and no `length`",
         Way("give `jax.lax.scan` `length`, the number of steps", "or arrays as `xs`")),
    row("argument", r"JAX encountered invalid PRNG key data: .*? Got (?P<code_value>.{1,60})$",
         "a random function takes a key, and got {code_value}",
         Way("make the key with `jax.random.key(0)`", "split it for each use")),
    row("argument", r"invalid value \((?P<kind>nan|inf)\) encountered in (?P<code_op>\S{1,100})",
         "the result of {code_op} has a {kind}, and `jax_debug_nans` or `jax_debug_infs` is on"),
    row("argument", r"Indexer must have integer or boolean type, got indexer with type (?P<code_type>\w+)",
         "{expression} indexes with {code_type}, and an index is an integer or a boolean",
         Way("convert the index with `.astype(int)`", "fractions are cut")),
    row("argument", r"Too many indices: (?:array is )?(?P<rank>\d+)-dimensional(?: array)?,? (?:but|with) (?P<count>\d+)",
         "{expression} has {count} indices, and the array has {rank} dimensions"),
    row("argument", r"Size of label '(?P<code_label>\w)' for operand (?P<number>\d+) \((?P<one>\d+)\) does not match previous terms \((?P<other>\d+)\)",
         "in {expression}, {code_label} is {words}", facts=_labelled),
    row("argument", r"dot_general requires contracting dimensions to have the same shape, got (?P<one>\([\d, ]*\)) and (?P<other>\([\d, ]*\))",
         "a product sums over two dimensions of one length, and got {words}",
         facts=_products),
    row("argument", r"(?P<code_op>\w+) got incompatible shapes for broadcasting: (?P<shapes>\([\d, ]*\)(?:, \([\d, ]*\))+)",
         ("{expression} needs one length, or 1, along {where}: {lengths}", "{code_op} needs one length, or 1, along {where}: {lengths}"),
         facts=_broadcast),
    row("argument", r"(?P<code_op>\w+): arrays must have (?:the )?same number of dimensions, got \{?(?P<ranks>[\d, ]{1,80})\}?",
         "{code_op} needs arrays that have one number of dimensions, and got {ranks}{shapes}",
         facts=_ranks),
    row("argument", r"Cannot concatenate arrays with shapes that differ in dimensions other than the one being concatenated: concatenating along dimension (?P<dimension>\d+) for shapes (?P<shapes>[\d(), ]{1,400})\.",
         "arrays that are joined along dimension {dimension} must be alike in all others, and are {shapes}"),
    row("argument", r"cannot reshape array of shape (?P<code_shape>\([\d, ]*\)) \(size (?P<size>\d+)\) into shape (?P<code_new>\([\d, -]*\)) \(size (?P<new>\d+)\)",
         "{what|the array} has {size} elements, {code_shape}, and {code_new} has {new}",
         Way("leave one length to JAX: `-1`", "it is then what is left"), facts=_sizes),
    row("callback", r"pure_callback only supports SingleDeviceSharding, but got <class '(?:[\w.]{0,200}\.)?(?P<code_type>\w{1,200})'>$",
         "`sharding` of a callback says which device calls, and got a {code_type}",
         # No other device instead: on 0.10.2 the results are zeros then on all devices but that one.
         Way("leave `sharding` out", "JAX then chooses the device")),
    row("callback", r"Pure callbacks do not support JVP\.",
         "`pure_callback` calls Python, whose gradient JAX does not know",
         Way("call it in a function with `jax.custom_vjp` or `jax.custom_jvp`", "which says what the gradient is"),
         Way("give `pure_callback` the `jax.lax.stop_gradient` of its arguments", "if no gradient is to go through it")),
    row("callback", r"IO callbacks do not support JVP\.",
         "`io_callback` calls Python, whose gradient JAX does not know",
         Way("give `io_callback` the `jax.lax.stop_gradient` of its arguments", "if no gradient is to go through it")),
    row("callback", r"Cannot `vmap` ordered IO callback\.$",
         "`io_callback` with `ordered=True` is under `vmap`, where nothing says which element comes first",
         Way("ordered=False", "the calls may then come in any order", replaces="ordered=True"),
         Way("use `jax.lax.map` in place of `vmap`", "one after the other, in their order")),
    row("callback", r"vmap is only supported for the (?P<code_op>pure_callback|ffi_call) primitive when vmap_method is one of .{1,300}\. Got vmap_method=None\.$",
         "{code_op} is under `vmap` and does not say how it takes a batch",
         Way("give it `vmap_method='sequential'`", "calls once for each element"),
         Way("give it `vmap_method='expand_dims'`", "if the function takes leading dimensions: calls once for all")),
    row("callback", r"Effects not supported in (?:partial-eval|AD) of `checkpoint`/`remat`: \[.{0,2000}?\b(?:Ordered)?IOEffect\b.{0,2000}\]$",
         "`io_callback` is within `jax.checkpoint`, which computes again what it may not call twice",
         Way("call it outside of what `jax.checkpoint` is given", "it is then called once")),
    row("callback", _START + r".*?RuntimeError: Incorrect output shape for return value #(?P<number>\d{1,6}): Expected: (?P<wanted>\([\d, ]{0,200}\)), Actual: (?P<given>\([\d, ]{0,200}\))$",
         "{which|the result} of the function that the callback calls has the shape {given}, but {wanted} was declared",
         Way("declare {given} in its `jax.ShapeDtypeStruct`", "if what it returned is right"), facts=_declared),
    row("callback", _START + r".*?RuntimeError: Incorrect output dtype for return value #(?P<number>\d{1,6}): Expected: (?P<wanted>\w{1,24}), Actual: (?P<given>\w{1,24})$",
         "{which|the result} of the function that the callback calls has the type {given}, but {wanted} was declared",
         Way("let it return {wanted}, as `.astype` makes it", "as was declared"), facts=_declared),
    row("callback", _START + r".*?RuntimeError: Mismatched number of outputs from callback\. Expected: (?P<n>\d{1,6}), Actual: (?P<n_given>\d{1,6})$",
         "the function that the callback calls returned {n_given:array}, and {n:array} {were} declared",
         Way("declare {n_given:array} with `jax.ShapeDtypeStruct`", "what it returns is then what is expected"), facts=lambda match, _: {"were": "was" if match["n"] == "1" else "were"}),
    row("callback", _START,
         "the program called {name} in Python, which raised {said} in line {line}", facts=_raised),
)  # fmt: skip
"""Each tried in turn."""
