/**
 * Ids of evidence: what they name, and which calls count as any.
 * Invariants: total, whatever comes in; nothing is looked up here.
 */
import type { RunEvent } from '../../core/state/event.js';
import { GOAL_TOOLS } from '../../core/state/goal/proposal.js';

export const EVIDENCE_CHARS_MAX = 300;

export type EvidenceId =
  /** A call of a cycle, or of a child of one. */
  | {
      readonly kind: 'call';
      readonly cycle: number;
      readonly child?: number;
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

const CALL = /^c([1-9]\d{0,8})(?:\.a([1-9]\d{0,8}))?\/(.+)$/s;
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
  const [, cycle, child, call] = CALL.exec(text) ?? [];
  if (cycle !== undefined && call !== undefined) {
    const of = child === undefined ? {} : { child: Number(child) };
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
