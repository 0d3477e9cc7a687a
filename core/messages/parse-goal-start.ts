/**
 * Parses the argument of `goalRun`: shape only. What the definition says is checked by `open_goal`, which knows the worker's
 * configuration.
 */
import { depthOf, SHAPE_DEPTH_MAX } from '../json/json-depth.js';
import { ownValue } from '../json/json.js';
import { isRecord, isText, isWellFormed, type Parsed } from '../json/shape.js';
import type { GoalStart } from '../state/goal/definition.js';
import { PAYLOAD_VERSION } from '../state/payloads/payload.js';

const NAME_CHARS_MAX = 200;
/** A whole start, as JSON. */
const START_CHARS_MAX = 400_000;
const TENANT = /^[A-Za-z0-9._-]{1,64}$/;
const STORE_ID = /^[0-9a-f]{32}$/;

export function parseGoalStart(raw: unknown): Parsed<GoalStart> {
  if (!isRecord(raw)) return fault('the input of a goal must be an object {v: 1, goal}');
  if (depthOf(raw) > SHAPE_DEPTH_MAX)
    return fault(`the input nests deeper than ${SHAPE_DEPTH_MAX} levels`);
  if (JSON.stringify(raw).length > START_CHARS_MAX)
    return fault(`the input is larger than ${START_CHARS_MAX} characters`);
  if (!isWellFormed(raw)) return fault('a text of the input has half of a surrogate pair');
  const undecodable = ownValue(raw, '$undecodable');
  if (typeof undecodable === 'string') return fault(`the input is undecodable: ${undecodable}`);
  if (ownValue(raw, 'v') !== PAYLOAD_VERSION) return fault('the input of a goal must have v: 1');
  const goal = ownValue(raw, 'goal');
  if (!isRecord(goal)) return fault('goal must be an object with an objective');
  if (typeof ownValue(goal, 'objective') !== 'string')
    return fault('goal.objective must say what is wanted');
  if (!isText(ownValue(goal, 'agent'), NAME_CHARS_MAX))
    return fault('goal.agent must be the name of an agent');
  const tenant = ownValue(raw, 'tenant');
  if (tenant !== undefined && (typeof tenant !== 'string' || !TENANT.test(tenant)))
    return fault('tenant must be 1 to 64 of the characters A-Z a-z 0-9 . _ -');
  const store = ownValue(raw, 'store');
  if (store !== undefined && (typeof store !== 'string' || !STORE_ID.test(store)))
    return fault('store must be the id of a store');
  for (const name of ['caller', 'traceId'] as const) {
    const value = ownValue(raw, name);
    if (value !== undefined && !isText(value, NAME_CHARS_MAX))
      return fault(`${name} must be a short text`);
  }
  const from = ownValue(raw, 'from');
  if (from !== undefined && (!isRecord(from) || !isText(ownValue(from, 'goalId'), NAME_CHARS_MAX)))
    return fault('from must name the goal that this one goes on with: {goalId}');
  return { ok: true, value: raw as unknown as GoalStart };
}

function fault(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
