/**
 * What a call says about the others (G1): where its result goes, what it waits for, when it is wanted. The
 * model says it with arguments whose names begin with `_`.
 * Invariant: those names never reach a tool; what cannot be read refuses the call.
 */
import type { Condition } from '../json/condition.js';
import { canonicalJson, type Json } from '../json/json.js';
import { referencesIn } from './references.js';
import { isPrevious } from './state.js';
import { parseReference } from './state-path.js';
import type { Flow } from '../state/dataflow.js';

export type ReadFlow =
  | { readonly ok: true; readonly args: Json; readonly flow?: Flow }
  | { readonly ok: false; readonly args: Json; readonly defect: string };

const DEPENDENCIES_MAX = 48;
const ID_CHARS_MAX = 128;
const EQUALS_CHARS_MAX = 1_000;

/** Takes the flow off the arguments of a call. Their depth must have been limited before. */
export function readFlow(proposed: Json): ReadFlow {
  if (!isRecord(proposed)) return { ok: true, args: proposed };
  const entries = Object.entries(proposed);
  const args = Object.fromEntries(entries.filter(([name]) => !name.startsWith('_')));
  const said = new Map(entries.filter(([name]) => name.startsWith('_')));
  const outputPath = pathOf(said.get('_outputPath'));
  const dependsOn = idsOf(said.get('_dependsOn'));
  const when = conditionOf(said.get('_when'));
  const refs = referencesIn(args);
  if (outputPath === BAD) return { ok: false, args, defect: '_outputPath is no path of the state' };
  if (outputPath !== undefined && isPrevious(outputPath)) {
    return { ok: false, args, defect: '_outputPath is below previous, where nothing is written' };
  }
  if (dependsOn === BAD) return { ok: false, args, defect: '_dependsOn is no list of call ids' };
  if (when === BAD)
    return { ok: false, args, defect: '_when is no condition on a path of the state' };
  if (!refs.ok) return { ok: false, args, defect: refs.defect };
  const flow: Flow = {
    ...(outputPath !== undefined && { outputPath }),
    ...(dependsOn !== undefined && { dependsOn }),
    ...(when !== undefined && { when }),
    refs: refs.paths,
  };
  const says = Object.keys(flow).length > 1 || flow.refs.length > 0;
  return { ok: true, args, ...(says && { flow }) };
}

const BAD = Symbol('unreadable');
type Read<T> = T | typeof BAD | undefined;

function pathOf(value: Json | undefined): Read<string> {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') return BAD;
  // Only a reference needs the prefix: without it, it would be any text.
  return parseReference(value) ?? BAD;
}

function idsOf(value: Json | undefined): Read<readonly string[]> {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length > DEPENDENCIES_MAX) return BAD;
  const ids = value.filter((id): id is string => typeof id === 'string');
  return ids.length === value.length && ids.every((id) => id.length <= ID_CHARS_MAX) ? ids : BAD;
}

function conditionOf(value: Json | undefined): Read<Condition> {
  if (value === undefined) return undefined;
  if (!isRecord(value)) return BAD;
  const { path: written, equals, exists, lte, gte, ...others } = value;
  const path = pathOf(written);
  if (path === undefined || path === BAD || Object.keys(others).length > 0) return BAD;
  if (equals !== undefined && canonicalJson(equals).length > EQUALS_CHARS_MAX) return BAD;
  if (exists !== undefined && typeof exists !== 'boolean') return BAD;
  if (lte !== undefined && typeof lte !== 'number') return BAD;
  if (gte !== undefined && typeof gte !== 'number') return BAD;
  return {
    path,
    ...(equals !== undefined && { equals }),
    ...(exists !== undefined && { exists }),
    ...(lte !== undefined && { lte }),
    ...(gte !== undefined && { gte }),
  };
}

function isRecord(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
