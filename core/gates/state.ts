/** The dataflow state as criteria see it: values under the names of their paths, as far as they lie in the run. */
import type { StateValue } from '../call/references.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../json-depth.js';
import type { Json } from '../json.js';
import type { OpenRun } from '../run.js';

type Branch = { readonly [name: string]: Json };

export function stateAsJson(run: OpenRun): Json {
  return Object.entries(run.state ?? {}).reduce<Branch>(
    (tree, [path, value]) => grown(tree, path.split('.'), valueOf(value)),
    {},
  );
}

/** Written paths never overlap, so nothing is in the way. */
function grown(tree: Branch, [name = '', ...rest]: readonly string[], value: Json): Branch {
  if (rest.length === 0) return { ...tree, [name]: value };
  return { ...tree, [name]: grown((tree[name] ?? {}) as Branch, rest, value) };
}

function valueOf(value: StateValue): Json {
  if (!('text' in value)) return { $blob: value.$blob, bytes: value.bytes };
  try {
    const parsed = JSON.parse(value.text) as Json;
    return depthOf(parsed) > SHAPE_DEPTH_MAX ? value.text : parsed;
  } catch {
    return value.text;
  }
}
