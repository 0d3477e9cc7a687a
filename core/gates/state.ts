/** The dataflow state as conditions see it: what lies in the run, under the names of its paths. */
import type { Json } from '../json.js';
import type { OpenRun } from '../run.js';

export function stateOf(_run: OpenRun): Json {
  return {};
}
