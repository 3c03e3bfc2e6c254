"""Which collectives of XLA's partitioner, or of the user's code, each collective of the optimized program is.

XLA keeps the channel of what its partitioner made. What was combined with others, or lost its channel, is found by what
it is made of and goes to, one to one among those of its kind, groups and type that no channel claims. Where several
remain that are alike in all of this, all of them are the answer. Not its job: what they are for
(`analyze.causes.causes`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from pjit_inspect.analyze.partition.edges import groups_of, near_signature, signature
from pjit_inspect.analyze.program.array_flow import Flow
from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.model.program.hlo import Instruction
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedProgram

_SAME_KIND = {"reduce-scatter": "all-reduce"}
"""XLA turns a sum that is sliced afterwards into the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Which collectives of the partitioned program the arrays of an optimized collective are.

    Attributes:
      edges: for each array those of the partitioner that it may be; () where none fits.
      written: for each array of a combined one those that the user wrote and that it may be; () where none fits.
    """

    edges: tuple[tuple[PartitionedCollective, ...], ...] = ()
    written: tuple[tuple[PartitionedCollective, ...], ...] = ()


def join(program: ShardedProgram, sites: Sequence[CollectiveOp]) -> list[Joined]:
    """For each collective of the optimized program, those of the partitioned; nothing is joined to a prediction."""
    if not sites or not (program.collectives or program.written):
        return [Joined() for _ in sites]
    return _Joiner(program, sites).joined()


@dataclass(slots=True)
class _Joiner:
    program: ShardedProgram
    sites: Sequence[CollectiveOp]
    flow: Flow | None = field(init=False, default=None)

    def joined(self) -> list[Joined]:
        by_channel: dict[int, list[PartitionedCollective]] = defaultdict(list)
        for edge in self.program.collectives:
            if edge.channel_id is not None:
                by_channel[edge.channel_id].append(edge)
        edges_of: list[list[tuple[PartitionedCollective, ...]]] = []
        claimed: set[int] = set()
        for site in self.sites:
            own = [edge for edge in by_channel.get(site.op.channel_id or 0, ()) if _fits(edge, site.op, site.kind)]
            alone = _arrays(site) == 1 and len(own) == 1
            edges_of.append([(own[0],)] if alone else [])
            claimed.update(id(edge) for edge in own[:alone])
        # Channels first: one that both programs have, with one fitting collective, is proof. The rest is matched by
        # what it is made of and goes to, and only with collectives that no channel has claimed.
        rest = [edge for edge in self.program.collectives if id(edge) not in claimed]
        written = {id(edge): edge for edge in self.program.written}
        found: list[Joined] = []
        for site, edges in zip(self.sites, edges_of, strict=True):
            # One that was not combined has a name of its own, which says whether it was written.
            others = list(written.values()) if _arrays(site) > 1 else []
            fitting = edges or self._by_flow(site, [*rest, *others])
            found.append(
                Joined(
                    edges=tuple(tuple(edge for edge in own if id(edge) not in written) for own in fitting),
                    written=tuple(tuple(edge for edge in own if id(edge) in written) for own in fitting),
                )
            )
        return found

    def _by_flow(
        self, site: CollectiveOp, rest: list[PartitionedCollective]
    ) -> list[tuple[PartitionedCollective, ...]]:
        """Those of some collectives that have the arguments, results, kind, groups and type of each array."""
        if self.flow is None:
            self.flow = Flow(site.op.module)
        flow, op = self.flow, site.op
        fitting = [edge for edge in rest if _fits(edge, op, site.kind)]
        yielded = list(flow.nodes(op.index))
        given = [node for operand in flow.operands(op.index) for node in flow.nodes(operand)]
        # Combined collectives yield their operands in order. One array (an all-to-all's pieces are one, too) is known
        # by its first operand and last result.
        if len(yielded) != len(given) or _arrays(site) == 1:
            # Neither, in a damaged program: then it is joined with nothing.
            pairs = min(len(yielded), len(given), 1)
            yielded, given = yielded[len(yielded) - pairs :], given[:pairs]
        return [self._like(node, source, fitting) for node, source in zip(yielded, given, strict=True)]

    def _like(self, node: int, source: int, fitting: list[PartitionedCollective]) -> tuple[PartitionedCollective, ...]:
        assert self.flow is not None
        elements, digest = self.flow.shape(source).count, signature(self.flow, node)
        alike = tuple(edge for edge in fitting if edge.signature == digest and edge.elements == elements)
        # The near signature only chooses among those that are equal otherwise; where none of them has it, all stay.
        if len(alike) < 2:
            return alike
        near = near_signature(self.flow, source)
        return tuple(edge for edge in alike if edge.near == near) or alike


def _arrays(site: CollectiveOp) -> int:
    """How many arrays it moves for reasons of their own: an all-to-all's operands are pieces of one."""
    if site.kind in ("all-to-all", "ragged-all-to-all"):
        return 1
    return max(1, sum(len(operand.shape.leaves) for operand in site.op.operands))


def _fits(edge: PartitionedCollective, op: Instruction, kind: str) -> bool:
    """Whether a collective of the partitioner has the kind, groups and a type that this one may have come from."""
    kinds = {kind, op.opcode.removesuffix("-start")}
    kinds |= {_SAME_KIND[name] for name in kinds if name in _SAME_KIND}
    if edge.kind not in kinds:
        return False
    types = {leaf.dtype for operand in op.operands for leaf in operand.shape.leaves}
    # CPUs add up in f32 what is narrower.
    if edge.dtype not in types and not (edge.dtype in ("bf16", "f16") and "f32" in types):
        return False
    groups = groups_of(op)
    return not groups or not edge.groups or _as_sets(groups) == _as_sets(edge.groups)


def _as_sets(groups: tuple[tuple[int, ...], ...]) -> frozenset[tuple[int, ...]]:
    return frozenset(groups)
