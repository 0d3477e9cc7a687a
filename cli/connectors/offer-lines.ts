/** What servers of connectors offer, as lines. */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { ApprovedOnce, ToolState } from '../../connectors/survey.js';
import { dateTimeText, inert, inertInline, table } from '../render/index.js';
import type { Output } from '../terminal/output.js';
import type { OfferedConnector, OfferedTool } from './offered.js';

const HASH_CHARS = 12;
/** Of one field: more than a server may say in it, so that whoever approves has seen all. */
const FIELD_CHARS_MAX = 400_000;
/** Runs do not get these. */
const HIDDEN: readonly ToolState[] = ['changed', 'new', 'unusable', 'gone'];

export function isHidden({ state }: OfferedTool): boolean {
  return HIDDEN.includes(state);
}

/** What `diff` tells of: it, and what its server went back to. */
export function isTold({ state, wentBack }: OfferedTool): boolean {
  return state !== 'approved' || wentBack !== undefined;
}

export function shortHash(hash: string): string {
  return hash.slice(0, HASH_CHARS);
}

export function headline({
  connector,
  status,
  era,
  server,
  message = '',
  required,
}: OfferedConnector): string {
  const needs = required ? ', required' : '';
  return status === 'connected'
    ? `${inert(connector)}: ${inert(server ?? 'a server without a name')}, ${era ?? ''} protocol${needs}`
    : `${inert(connector)}: down${needs}. ${inert(message)}`;
}

export function toolTable(tools: readonly OfferedTool[], { paint }: Output): string {
  return table({
    head: ['tool', 'effect', 'runs get it', 'hash'],
    rows: tools.map(({ name, effect, state, problem, hash }) => [
      inert(name),
      effect,
      problem === undefined ? state : `no: ${inert(problem)}`,
      shortHash(hash),
    ]),
    paint,
  });
}

export function schemaLines({ name, definition = {} }: OfferedTool): readonly string[] {
  const { inputSchema, outputSchema } = definition;
  return [
    `${inert(name)} takes ${inert(canonicalJson((inputSchema ?? {}) as Json), FIELD_CHARS_MAX)}`,
    ...(outputSchema === undefined
      ? []
      : [`${inert(name)} gives ${inert(canonicalJson(outputSchema as Json), FIELD_CHARS_MAX)}`]),
  ];
}

/** Whole and exact: what nobody sees of a text is written as an escape. */
export function changeLines(tool: OfferedTool): readonly string[] {
  const { name, state, effect, hash, changes } = tool;
  return [
    `${inert(name)}: ${state}, effect ${inert(effect)}, hash ${inert(hash)}`,
    ...wentBackLines(tool),
    ...changes.flatMap(({ field, was, is }) => [
      `  ${inert(field)} was ${exact(was)}`,
      `  ${inert(field)} is  ${exact(is)}`,
    ]),
  ];
}

/** The same, and what its server still says of it. */
export function wholeLines(tool: OfferedTool): readonly string[] {
  const changed = new Set(tool.changes.map(({ field }) => field));
  const rest = Object.entries(tool.definition ?? {}).filter(([field]) => !changed.has(field));
  return [
    ...changeLines(tool),
    ...rest.map(
      ([field, value]) => `  ${inert(field)} is still ${exact(canonicalJson(value as Json))}`,
    ),
  ];
}

function wentBackLines({ wentBack }: OfferedTool): readonly string[] {
  if (wentBack === undefined) return [];
  const { newer } = wentBack;
  return [
    `  The server went back to this description, which was approved ${approvedWords(wentBack)}.`,
    '  That approval counts again: runs get the tool.',
    `  A newer description (${shortHash(inert(newer.hash))}) was approved ${approvedWords(newer)}.`,
  ];
}

function approvedWords({ at, by }: ApprovedOnce): string {
  return `${dateTimeText(at)} ${by === undefined ? 'at first use' : `by ${inert(by)}`}`;
}

/** Of canonical JSON. */
function exact(text: string | undefined): string {
  if (text === undefined) return 'absent';
  try {
    return inertInline(JSON.parse(text), FIELD_CHARS_MAX);
  } catch {
    // It was too long to be told whole.
    return inert(text, FIELD_CHARS_MAX);
  }
}
