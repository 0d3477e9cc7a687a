/**
 * The freeze switch: while a freeze is in force nothing that it covers is claimed, in any run.
 * Invariants: it covers what changes something, never what only looks; a lifted or ended freeze covers
 * nothing; deciding is pure.
 */
import { matchesName } from '../core/state/policy.js';

/** What stands still: tools by an exact name or a prefix that ends in `*`, one agent, or all of a tenant. */
export type FreezeScope =
  | { readonly kind: 'tool'; readonly pattern: string }
  | { readonly kind: 'agent'; readonly agent: string }
  | { readonly kind: 'tenant' };

export interface Freeze {
  readonly id: string;
  readonly scope: FreezeScope;
  readonly by: string;
  readonly reason: string;
  /** ms since epoch. */
  readonly at: number;
  /** It ends by itself then, in ms since epoch; absent: when somebody lifts it. */
  readonly until?: number;
  readonly lifted?: { readonly at: number; readonly by: string; readonly reason?: string };
}

/** Of tools: an exact name, or a prefix that ends in `*`. */
export const FREEZE_PATTERN = /^(?!$)[A-Za-z0-9_.-]{0,127}\*?$/;
/** Of reasons and names. */
export const FREEZE_TEXT_CHARS_MAX = 300;

export function isInForce({ until, lifted }: Freeze, now: number): boolean {
  return lifted === undefined && (until === undefined || now < until);
}

/** The oldest freeze that covers this execution now. */
export function freezeOn(
  freezes: readonly Freeze[],
  what: { readonly tool: string; readonly agent: string },
  now: number,
): Freeze | undefined {
  return freezes.find((freeze) => isInForce(freeze, now) && covers(freeze.scope, what));
}

function covers(
  scope: FreezeScope,
  { tool, agent }: { readonly tool: string; readonly agent: string },
): boolean {
  switch (scope.kind) {
    case 'tool':
      return matchesName(scope.pattern, tool);
    case 'agent':
      return scope.agent === agent;
    case 'tenant':
      return true;
  }
}

const REASON_CHARS = 300;

/** What the model is told: nothing happened, and what it may do instead. `until`: as a text. */
export function frozenMessage(tool: string, freeze: Freeze, until?: string): string {
  const end = until === undefined ? '' : ` until ${until}`;
  return [
    `Nothing was done: ${tool} is frozen${end} (${freeze.id}, ${freeze.reason.slice(0, REASON_CHARS)}).`,
    'Do not call it again in this run. Go on without it, or say that a person will see to it.',
  ].join(' ');
}
