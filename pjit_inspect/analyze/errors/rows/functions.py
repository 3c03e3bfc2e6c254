"""The table's rows of what functions do: gradients, `vmap`, trees, shapes that do not go together, loops.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `api.py`, `api_util.py`, `tree_util.py`, `custom_derivatives.py`,
`lax/lax.py`, `lax/control_flow/loops.py`, `interpreters/batching.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence

from pjit_inspect.analyze.errors.fits import listed, replaced_text
from pjit_inspect.analyze.errors.proposals import call_of, first_accepted, in_axes
from pjit_inspect.analyze.errors.table import Facts, Propose, Way, listed_facts
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say

# ---------------------------------------------------------------- vmap

_ARGUMENT = re.compile(
    r"(?:had|has) size (\d+)(?:: |, e\.g\. )axis (\d+) of (?:argument|kwarg) ?(\S{1,200}?)(?: of type (\S{1,200}?))?(?=;|\n|$| of)"
)


def _lengths(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    found = [(one[3], int(one[1]), int(one[2])) for one in _ARGUMENT.finditer(match.string)]
    if len(found) < 2:
        return None
    words = joined([say("{} has {}", name(which), f"{length:,}") for which, length, _ in found[:4]])
    dimensions = {place for _, _, place in found}
    texts = tuple((which, length) for which, length, _ in found)
    count = len([a for a in scene.arguments if a.key.isdigit()])
    is_all = "most axes" not in match.string and "some axes" not in match.string
    return {
        "lengths": texts if is_all else (), "words": words, "count": count,
        "dimension": f"dimension {found[0][2]}" if len(dimensions) == 1 else "one dimension",
    }  # fmt: skip


def _range(match: re.Match[str], scene: ErrorScene) -> Facts:
    rank, shape = int(match["rank"]), ast.literal_eval(match["shape"])
    same = [array.name for array in scene.operands if array.shape == shape]
    # A number of Python's is no array.
    same = same or [
        one.text for one in scene.arguments if not rank and one.type in ("int", "float", "bool") and one.text
    ]
    facts: dict[str, object] = {
        "what": name(same[0]) if len(same) == 1 else "an argument", "place": int(match["axis_number"]),
        "has": "no dimension" if not rank else f"{rank} dimension" if rank == 1 else f"{rank} dimensions",
    }  # fmt: skip
    call = call_of(scene, match["function"])
    written = re.search(r"in_axes\s*=\s*(-?\d+)(?=[,)])", call)
    each = (
        tuple({"edit": code(call.replace(written[0], f"in_axes={place}")), "to": place} for place in range(rank))
        if written
        else ()
    )
    return (
        facts | {"each": each, "call": code(call)} | ({"last": f"0 to {rank - 1}" if rank > 1 else "0"} if rank else {})
    )


# ---------------------------------------------------------------- gradients


_RETURNS = {"(": "a tuple", "[": "a list", "{": "a dict"}


def _output(match: re.Match[str], scene: ErrorScene) -> Facts:
    if shape := match["shape"]:
        callee = call_of(scene, "grad").partition("(")[0]
        jacobian = {"callee": code(callee), "jacobian": code(callee.removesuffix("grad") + "jacrev")} if callee else {}
        return {"result": say("an array of shape {}", code(shape)), **jacobian}
    value = match["value"]
    result = code("None") if value.startswith("None") else _RETURNS.get(value[:1], "no array")
    return {"result": result, **({"pair": "pair"} if value.startswith("(") else {})}


def _integer(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = [array.name for array in scene.operands if array.dtype == match["code_type"]]
    number = scene.arguments[0].text if len(scene.arguments) == 1 else ""
    if len(own) == 1:
        return {"what": name(own[0]), "name_int": name(own[0]), "name_written": name(replaced_text(own[0], scene))}
    if own or not re.fullmatch(r"-?\d+", number):
        return {"what": "the argument"}
    return {"what": code(number), "real": code(re.sub(rf"\({number}\)$", f"({number}.)", scene.expression))}


# ---------------------------------------------------------------- shapes


def _products(match: re.Match[str], scene: ErrorScene) -> Facts:
    own = [array for array in scene.operands if array.shape is not None]
    one, other = (text.strip("(),") for text in (match["one"], match["other"]))
    if len(own) != 2:
        return {"words": f"{one} and {other}"}
    return {"words": say("{} ({})", f"{one} and {other}", _shapes(own)), "arrays": tuple(own)}


def _shapes(arrays: Sequence[ErrorArray]) -> Sentence:
    words = [say("{} is {}", name(one.name), code(f"[{','.join(map(str, one.shape or ()))}]")) for one in arrays]
    return joined(words)


def _transposed(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    own = [array for array in listed_facts(facts, "arrays", ErrorArray) if len(array.shape or ()) == 2]
    if len({array.name for array in own}) < 2 or scene.operator not in ("@", "matmul", "dot"):
        return
    for number, (array, other) in enumerate((own, own[::-1])):
        if array.name.isidentifier() and (array.shape or ())[number] == (other.shape or ())[number]:
            effect = say("multiplies with {} transposed", name(array.name))
            yield Fit(
                edit=f"{array.name}.T", effect=effect, replaces=replaced_text(array.name, scene), target=array.name
            )


def _broadcast(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    own = tuple(array for array in scene.operands if array.shape is not None)
    where, lengths = found = _unlike([ast.literal_eval(one) for one in re.findall(r"\([\d, ]*\)", match["shapes"])])
    is_known = found == _unlike([array.shape or () for array in own])
    return {
        "operation": code(scene.expression or match["code_op"]), "where": where, "arrays": own if is_known else (),
        "lengths": say("{} ({})", lengths, _shapes(own)) if is_known else lengths, "fits": _spread(own, scene),
    } if where else None  # fmt: skip


def _unlike(shapes: Sequence[tuple[int, ...]]) -> tuple[str, str]:
    """The first dimension along which shapes do not broadcast, and their lengths; "" where they do."""
    rank = max(map(len, shapes), default=0)
    for place, lengths in enumerate(zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True)):
        if len({*lengths} - {1}) > 1:
            return f"dimension {place}", joined(list(map(str, dict.fromkeys(lengths))))
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
            replaces=replaced_text(array.name, scene), target=array.name,
        )
        for array in own if len(array.shape or ()) < rank
        for kept in itertools.combinations(range(rank), len(array.shape or ()))
    ]  # fmt: skip
    return lambda judge: first_accepted(fits, judge)


def _labelled(match: re.Match[str], scene: ErrorScene) -> Facts:
    """How long a label of `einsum` is in each operand; JAX's message may take one for the other."""
    terms, held = scene.subscripts.partition("->")[0].replace(" ", "").split(","), dict[int, list[str]]()
    texts = {argument.key: argument.text for argument in scene.arguments}
    for number, term in enumerate(terms, start=1):
        for array in scene.operands:
            if array.name.strip("()") == texts.get(str(number), "").strip("()") and match["code_label"] in term:
                before, dots, _ = term.partition("...")
                place = term.index(match["code_label"])
                place = place - len(term) if dots and place >= len(before) else place
                held.setdefault((array.shape or ())[place], []).append(array.name)
    lengths = [int(match["one"]), int(match["other"])]
    if sorted(held) != sorted(lengths):
        return {"words": say("{} long in one operand and {} in another", *sorted(lengths))}
    return {
        "words": joined([say("{} long in {}", length, listed(names)) for length, names in held.items()], ", "),
        "arrays": tuple(array for array in scene.operands if any(array.name in names for names in held.values())),
    }


def _sizes(match: re.Match[str], scene: ErrorScene) -> Facts:
    same = [a.name for a in scene.operands if a.shape == ast.literal_eval(match["code_shape"])]
    return {"what": name(same[0]) if len(same) == 1 else "the array"}


FUNCTION_ROWS = (
    _row("mapped", r"vmap got inconsistent sizes for array axes to be mapped:\n",
         "`vmap` maps {dimension} of every argument, and their lengths differ: {words}",
         in_axes, Way("give `vmap` `in_axes` with `None` for what is the same in every call", "it is then not mapped", is_last=True), facts=_lengths),
    _row("mapped", r"(?P<function>vmap|pmap) was requested to map its argument along axis (?P<axis_number>-?\d+), which implies that its rank should be at least \d+, but is only (?P<rank>\d+) \(its shape is (?P<shape>\([\d, ]*\))\)",
         "`{function}` maps dimension {place} of every argument, and {what} has {has}",
         Way("{edit}", "maps dimension {to}", replaces="{call}"), Way("choose `in_axes` from {last}", "or `None` for an argument that is not mapped", is_last=True), Way("give `{function}` `in_axes` with `None` for that argument", "it is then the same in every call"), facts=_range),
    _row("mapped", r"(?P<function>vmap|pmap) in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments passed to the function, but got len\(in_axes\)=(?P<given>\d+), len\(args\)=(?P<wanted>\d+)",
         "`in_axes` has the length {given}, and the function got {wanted} arguments",
         Way("give `in_axes` the length {wanted}", "`None` for an argument that is not mapped")),
    _row("mapped", r"(?P<function>vmap|pmap) must have at least one non-None value in in_axes",
         "`in_axes` is `None` for every argument, so `{function}` maps nothing",
         Way("give a dimension for one argument", "or `axis_size`")),
    _row("mapped", r"at vmap out_axes(?P<code_path>\S*), got axis spec None but output was batched on axis (?P<number>\d+)",
         "`out_axes` is `None` for a result that is another one for each element",
         Way("give `out_axes` a number", "the dimension where the results are stacked"), Way("reduce the result inside, over the `axis_name` of the `vmap`", "it is then the same for all")),
    _row("mapped", r"Mapped away dimension of inputs passed to vmap should be sharded the same\. Got inconsistent axis specs: (?P<axis>.{1,100}?) vs (?P<axis_other>.{1,100})$",
         "`vmap` needs one split of the dimension that it maps: one argument has it over {axis}, another over {axis_other}",
         Way("bring them to one split with `jax.sharding.reshard`", "before they are mapped")),
    _row("prefix", r"vmap (?P<code_which>in_axes|out_axes) must be an int, None, or .{1,100}, but got (?P<code_value>.{1,100})\.",
         "{code_which} of `vmap` takes numbers and `None`, one for each argument, and got {code_value}",
         Way("give a number, or a tuple with one for each argument", "`None` for what is not mapped")),
    _row("gradient", r"Gradient only defined for scalar-output functions\. Output (?:had shape: (?P<shape>\([\d, ]*\))|was (?P<value>.*))",
         "`jax.grad` needs a function that returns one number, and it returns {result}",
         Way("{jacobian}", "the derivative of every element", replaces="{callee}"), Way("let the function return a sum or a mean", "the gradient of a loss"), Way("give `jax.grad` `has_aux=True`", "if the function returns a {pair}: the loss, and what else is wanted"), facts=_output),
    _row("gradient", r"(?P<function>grad|value_and_grad|jacrev|jacfwd|vjp)? ?requires real-(?: or complex-)?valued inputs \(input dtype that is a sub-dtype of np\.\w+\), but got (?P<code_type>\w+)\.",
         "`{function}` needs real numbers, and {what} is {code_type}",
         Way("{name_int}.astype('float32')", "a derivative needs real numbers", replaces="{name_written}"),
         Way("{real}", "a derivative needs real numbers", replaces="{expression}"), Way("choose other arguments with `argnums`", "integers, such as token ids, have no gradient"), facts=_integer),
    _row("gradient", r"(?P<function>\w+) requires real-valued outputs \(output dtype that is a sub-dtype of np\.\w+\), but got (?P<code_type>\w+)\.",
         "`{function}` needs a function that returns a real number, and it returns {code_type}",
         Way("return the loss before it is rounded or cast", "what is {code_type} has no gradient")),
    _row("gradient", r"differentiating with respect to argnums=(?P<code_numbers>\S{1,60}) requires at least (?P<wanted>\d+) positional arguments to be passed by the caller, but got only (?P<given>\d+)",
         "`argnums` is {code_numbers}, counted from 0, and the call has {given} positional arguments",
         Way("give {wanted} arguments by position, or choose `argnums` below {given}", "keywords are not counted")),
    _row("gradient", r"Reverse-mode differentiation does not work for lax\.while_loop or lax\.fori_loop with dynamic start/stop values",
         "a gradient goes through {expression}, a loop whose number of steps is not known before it runs: JAX cannot keep what each step needs",
         Way("use `jax.lax.scan`, or `jax.lax.fori_loop` with plain integers as its bounds", "the number of steps is then known"), Way("use `jax.jvp` or `jax.jacfwd`", "forward derivatives need nothing kept")),
    _row("gradient", r"Reverse-mode differentiation does not work for lax\.while_loop or lax\.fori_loop with dynamic start/stop values",
         "a gradient goes through a `while_loop`, or a `fori_loop` whose bounds are traced: JAX cannot keep what each step needs",
         Way("use `jax.lax.scan`, or `jax.lax.fori_loop` with plain integers as its bounds", "the number of steps is then known"), Way("use `jax.jvp` or `jax.jacfwd`", "forward derivatives need nothing kept")),
    _row("gradient", r"No (?P<what>VJP|JVP) defined for (?P<code_kind>\w+) function (?P<name>\S+) using (?P<code_method>\w+)",
         "{name} is a {code_kind} without its derivative: {code_method} was not called",
         Way("call {code_method} of {name}", "it says what the derivative is")),
    _row("gradient", r"Custom VJP bwd rule must produce an output with the same container \(pytree\) structure as the args tuple.*?bwd output structure PyTreeDef\((?P<code_given>.*?)\) for primal input structure PyTreeDef\((?P<code_wanted>.*?)\)\.",
         "the `bwd` function returns {code_given}, and must return one gradient for each argument: {code_wanted}",
         Way("return a tuple with one entry for each argument", "`None` for one that has no gradient")),
    _row("gradient", r"Custom VJP bwd rule must produce an output with the same type as the args tuple.*? at output(?P<code_place>\S*) the bwd rule produced an output of type (?P<code_given>\S+) corresponding to an input of type (?P<code_wanted>[^\s,]+(?:,\d+)*\]?\S*?),? so",
         "the `bwd` function returns {code_given} at {code_place}, and the argument there is {code_wanted}: a gradient has the type of its argument",
         Way("return {code_wanted} there", "sum or broadcast to its shape")),
    _row("gradient", r"unexpected JAX type \(e\.g\. shape/dtype\) for argument to VJP function: got (?P<code_given>\S+), but expected (?P<code_wanted>\S+) because",
         "the function that `jax.vjp` returned takes {code_wanted}, as the result is, and got {code_given}",
         Way("give it an array like the result", "as `jnp.ones_like` makes it")),
    _row("gradient", r"unexpected tree structure\.\s+The argument to a VJP function returned by `jax\.vjp` must match .*?\* (?P<where>\S+) was an? (?:<class ')?(?P<was>.{1,200}?)(?:'>)? in the original output, but an? (?:<class ')?(?P<now>.{1,200}?)(?:'>)? here",
         "the function that `jax.vjp` returned takes a tree like the result, which was a {was}, and got a {now}",
         Way("give it a tree with the keys and lengths of the result", "one cotangent for each array")),
    _row("argument", r"scan got no values to scan over and `length` not provided\.",
         "{expression} has no arrays to go over, and no `length`",
         Way("give `jax.lax.scan` `length`, the number of steps", "or arrays as `xs`")),
    _row("argument", r"JAX encountered invalid PRNG key data: .*? Got (?P<code_value>.{1,60})$",
         "a random function takes a key, and got {code_value}",
         Way("make the key with `jax.random.key(0)`", "split it for each use")),
    _row("argument", r"invalid value \((?P<kind>nan|inf)\) encountered in (?P<code_op>\S{1,100})",
         "the result of {code_op} has a {kind}, and `jax_debug_nans` or `jax_debug_infs` is on"),
    _row("argument", r"Indexer must have integer or boolean type, got indexer with type (?P<code_type>\w+)",
         "{expression} indexes with {code_type}, and an index is an integer or a boolean",
         Way("convert the index with `.astype(int)`", "fractions are cut")),
    _row("argument", r"Too many indices: (?:array is )?(?P<rank>\d+)-dimensional(?: array)?,? (?:but|with) (?P<count>\d+)",
         "{expression} has {count} indices, and the array has {rank} dimensions"),
    _row("argument", r"Size of label '(?P<code_label>\w)' for operand (?P<number>\d+) \((?P<one>\d+)\) does not match previous terms \((?P<other>\d+)\)",
         "in {expression}, {code_label} is {words}", facts=_labelled),
    _row("argument", r"dot_general requires contracting dimensions to have the same shape, got (?P<one>\([\d, ]*\)) and (?P<other>\([\d, ]*\))",
         "a product sums over two dimensions of one length, and got {words}",
         _transposed, facts=_products),
    _row("argument", r"(?P<code_op>\w+) got incompatible shapes for broadcasting: (?P<shapes>\([\d, ]*\)(?:, \([\d, ]*\))+)",
         "{operation} needs one length, or 1, along {where}: {lengths}",
         facts=_broadcast),
    _row("argument", r"(?P<code_op>\w+): arrays must have (?:the )?same number of dimensions, got \{?(?P<ranks>[\d, ]{1,80})\}?",
         "{code_op} needs arrays that have one number of dimensions, and got {ranks}{shapes}",
         facts=_ranks),
    _row("argument", r"Cannot concatenate arrays with shapes that differ in dimensions other than the one being concatenated: concatenating along dimension (?P<dimension>\d+) for shapes (?P<shapes>[\d(), ]{1,400})\.",
         "arrays that are joined along dimension {dimension} must be alike in all others, and are {shapes}"),
    _row("argument", r"cannot reshape array of shape (?P<code_shape>\([\d, ]*\)) \(size (?P<size>\d+)\) into shape (?P<code_new>\([\d, -]*\)) \(size (?P<new>\d+)\)",
         "{what} has {size} elements, {code_shape}, and {code_new} has {new}",
         Way("leave one length to JAX: `-1`", "it is then what is left"), facts=_sizes),
)  # fmt: skip
"""Each tried in turn; of two rows with one pattern the first whose facts are there."""
