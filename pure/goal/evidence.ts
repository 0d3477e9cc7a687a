/**
 * Ids of evidence: what they name, and which calls count as any.
 * Invariants: total, whatever comes in; nothing is looked up here.
 */
import type { RunEvent } from '../../core/state/event.js';
import { GOAL_TOOLS } from '../../core/state/goal/proposal.js';

export const EVIDENCE_CHARS_MAX = 300;

export type EvidenceId =
  /** A call of a cycle, or of a sub-agent below one: by numbers, from that of the cycle on. */
  | {
      readonly kind: 'call';
      readonly cycle: number;
      readonly below?: readonly number[];
      readonly call: string;
    }
  | { readonly kind: 'check'; readonly name: string; readonly n: number }
  | { readonly kind: 'effect'; readonly key: string }
  | { readonly kind: 'ask'; readonly id: string };

export interface ParsedEvidence {
  /** Run id of an earlier goal, whose id it is. */
  readonly goal?: string;
  readonly id: EvidenceId;
}

const CALL = /^c([1-9]\d{0,8})((?:\.a[1-9]\d{0,8}){0,5})\/(.+)$/s;
const SUB_AGENT = /^(.+):c([1-9]\d{0,8})((?::a[1-9]\d{0,8}){1,5})$/s;
const CHECK = /^check\/([A-Za-z][A-Za-z0-9._-]{0,63})\/([1-9]\d{0,8})$/;
const ANCESTOR = /^([A-Za-z0-9._:-]{1,128})#(.+)$/s;

/** Undefined: it is no id of evidence. */
export function parseEvidence(text: string): ParsedEvidence | undefined {
  if (text.length > EVIDENCE_CHARS_MAX) return undefined;
  const own = parseOwn(text);
  if (own !== undefined) return { id: own };
  const [, goal, rest] = ANCESTOR.exec(text) ?? [];
  const id = rest === undefined ? undefined : parseOwn(rest);
  return goal === undefined || id === undefined ? undefined : { goal, id };
}

function parseOwn(text: string): EvidenceId | undefined {
  const [, cycle, path = '', call] = CALL.exec(text) ?? [];
  if (cycle !== undefined && call !== undefined) {
    const of = path === '' ? {} : { below: numbersIn(path) };
    return { kind: 'call', cycle: Number(cycle), ...of, call };
  }
  const [, name, n] = CHECK.exec(text) ?? [];
  if (name !== undefined) return { kind: 'check', name, n: Number(n) };
  if (text.startsWith('effect/') && text.length > 7) return { kind: 'effect', key: text.slice(7) };
  if (text.startsWith('ask/') && text.length > 4) return { kind: 'ask', id: text.slice(4) };
  return undefined;
}

/** Ids of what a cycle called, as its model sees them. */
export function callEvidence(cycle: number, callId: string): string {
  return `c${cycle}/${callId}`;
}

function numbersIn(path: string): readonly number[] {
  return (path.match(/\d+/g) ?? []).map(Number);
}

/** The run that made a call of this goal. */
export function runOfCall(
  goal: string,
  { cycle, below = [] }: { readonly cycle: number; readonly below?: readonly number[] },
): string {
  return [`${goal}:c${cycle}`, ...below.map((n) => `a${n}`)].join(':');
}

/** Of a run below a cycle: the cycle, and what ids of its evidence begin with. Undefined: its id is none of these. */
export function placeBelowCycle(
  runId: string,
): { readonly goal: string; readonly cycle: string; readonly prefix: string } | undefined {
  const [, goal, n, path] = SUB_AGENT.exec(runId) ?? [];
  if (goal === undefined || n === undefined || path === undefined) return undefined;
  return { goal, cycle: `${goal}:c${n}`, prefix: `c${n}${path.replaceAll(':', '.')}/` };
}

const OURS: ReadonlySet<string> = new Set(GOAL_TOOLS);

type Finished = Extract<RunEvent, { type: 'tool_finished' }>;

/** The result of a tool that ran here, with success, and that is none of a goal's own. */
export function countsAsEvidence(event: RunEvent): event is Finished {
  return (
    event.type === 'tool_finished' &&
    event.status === 'ok' &&
    !event.synthetic &&
    event.hosted !== true &&
    !OURS.has(event.tool)
  );
}
