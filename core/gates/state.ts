/** The dataflow state as conditions see it: what lies in the run, under the names of its paths. */
import { valueOf } from '../dataflow/references.js';
import { type StateValue } from '../state/dataflow.js';
import { ownValue, type Json } from '../json/json.js';
import type { OpenRun } from '../state/run.js';

type Tree = { readonly [name: string]: Json };

export function stateOf(run: OpenRun): Json {
  return Object.entries(run.state ?? {}).reduce<Tree>(
    (tree, [path, value]) => planted(tree, path.split('.'), seen(value)),
    {},
  );
}

/** A large value is there, and cannot be looked into. */
function seen(value: StateValue): Json {
  return 'text' in value ? valueOf(value.text, value) : { $blob: value.$blob, bytes: value.bytes };
}

/** No path lies inside another one's value, so nothing is ever in the way. */
function planted(tree: Tree, [name = '', ...below]: readonly string[], value: Json): Tree {
  if (below.length === 0) return { ...tree, [name]: value };
  const inner = ownValue(tree, name);
  const branch = typeof inner === 'object' && inner !== null ? (inner as Tree) : {};
  return { ...tree, [name]: planted(branch, below, value) };
}
