// How the values written on a box's source lines are split, for the colour of the box. Modelled: a line's values are
// those of the program before partitioning, and a box has the lines of its kernels. Pure.
const PHASES = ["forward", "recompute", "backward", "optimizer"];

/**
 * For each box the axes that most bytes of its values are split over, "" where they are whole; absent where nothing is
 * known. Null when the record knows the shardings of no value.
 * @param {import("../../core/blob.js").Store} data @param {import("./columns.js").Graph} graph
 * @returns {Map<number, string[]> | null}
 */
export function shardingsOf(data, graph) {
  const values = data.header.arrays.filter(
    (/** @type {any} */ row) => row.role === "value" && row.sharding >= 0 && row.spots.length,
  );
  if (!values.length) return null;
  const byPlace = placed(values, data);
  const found = new Map();
  for (let box = 0; box < graph.boxes; box++) {
    /** @type {Map<string, number>} */
    const sums = new Map();
    const spots = new Set(graph.kernelsOf(box).map((kernel) => graph.kernel.spot[kernel]));
    for (const spot of spots)
      for (const [axes, bytes] of byPlace.get(`${spot},${PHASES[graph.box.phase[box]]}`) ?? [])
        sums.set(axes, (sums.get(axes) ?? 0) + bytes);
    const most = [...sums].sort((a, b) => b[1] - a[1])[0];
    if (most) found.set(box, most[0] ? most[0].split("\n") : []);
  }
  return found.size ? found : null;
}

/**
 * "spot,phase" -> axes and bytes of the values there.
 * @param {any[]} values @param {import("../../core/blob.js").Store} data
 */
function placed(values, data) {
  /** @type {Map<string, [string, number][]>} */
  const places = new Map();
  for (const row of values) {
    const axes = [...new Set((data.header.shardings[row.sharding].spec ?? []).flat())].join("\n");
    const key = `${row.spots[0]},${row.phase || "forward"}`;
    if (!places.has(key)) places.set(key, []);
    places.get(key)?.push([axes, row.bytes]);
  }
  return places;
}
