/**
 * What of a run's events belongs into the audit trail: its questions, decisions that do not count, and those that count
 * and that nobody could write before they were sent.
 */
import type { AuditEntry, AuditKind } from './audit.js';
import type { EventBody, RunEvent } from '../core/state/event.js';
import { warningKind } from '../core/state/warning.js';
import type { RefusedDecision } from '../core/state/ask.js';
import type { AskView } from '../core/state/ask-view.js';
import type { Json } from '../core/json/json.js';

const TEXT_CHARS_MAX = 500;

/** In order; most events have none. */
export function auditOf(event: RunEvent): readonly AuditEntry[] {
  return toldBy(event).map((told) => entryOf(event, told));
}

function entryOf(event: RunEvent, told: Told): AuditEntry {
  const { runId, at, seq } = event.stamp;
  const { kind, by, askId, facts } = told;
  return {
    at,
    kind,
    ...(by !== undefined && { by }),
    runId,
    ...(askId !== undefined && { askId }),
    facts: { event: seq, ...facts },
  };
}

interface Told {
  readonly kind: AuditKind;
  readonly by?: string;
  readonly askId?: string;
  readonly facts: { readonly [name: string]: Json };
}

function toldBy(event: EventBody): readonly Told[] {
  const told = oneToldBy(event);
  const refused = event.type === 'warning' ? refusedHeld(event.about) : undefined;
  return [told, refused].filter((one) => one !== undefined);
}

/** Whoever's word met a correction and lost: the trail has it as decided. */
function refusedHeld(about: RefusedDecision | undefined): Told | undefined {
  if (about?.held !== true) return undefined;
  const { askId, by, held: _, argsHash: __, ...facts } = about;
  return { kind: 'decision_refused', by, askId, facts };
}

function oneToldBy(event: EventBody): Told | undefined {
  switch (event.type) {
    case 'approval_requested':
    case 'input_request':
      return event.kind === 'user_message' ? undefined : asked(event);
    case 'approval_resolved':
    case 'input_provided': {
      const { askId, outcome, by } = event;
      const reason = 'reason' in event ? event.reason : undefined;
      const amount = 'amount' in event ? event.amount : undefined;
      const grants = 'grant' in event && event.grant !== undefined;
      return {
        kind: 'resolved',
        askId,
        facts: {
          outcome,
          by,
          ...(reason !== undefined && { reason: reason.slice(0, TEXT_CHARS_MAX) }),
          ...(amount !== undefined && { amount }),
          ...(grants && { standingGrant: true }),
        },
      };
    }
    case 'decision_recorded': {
      const { askId, by, facts } = event;
      return { kind: 'decided', by, askId, facts: { via: 'run', ...facts } };
    }
    case 'approval_withdrawn': {
      const { askId, reason } = event;
      return { kind: 'withdrawn', askId, facts: { reason: reason.slice(0, TEXT_CHARS_MAX) } };
    }
    case 'approval_escalated': {
      const { askId, roles } = event;
      return { kind: 'escalated', askId, facts: { roles } };
    }
    case 'warning': {
      const { code, message, about } = event;
      const known = warningKind(code);
      if (known?.audited !== true) return undefined;
      const kind = known.counts === true ? 'mode_changed' : 'ignored';
      const facts = { code, message: message.slice(0, TEXT_CHARS_MAX) };
      // In the facts alone: it may be anybody's, and is not to crowd the rows of the question or the person.
      return { kind, facts: { ...facts, ...about } };
    }
    default:
      return undefined;
  }
}

function asked(ask: AskView): Told {
  const { askId, kind, tool, toolVersion, argsHash, policyVersion, roles, quorum } = ask;
  const { repeats, limits } = ask;
  return {
    kind: 'asked',
    askId,
    facts: {
      question: kind,
      ...(tool !== undefined && { tool }),
      ...(toolVersion !== undefined && { toolVersion }),
      argsHash,
      policyVersion,
      roles,
      quorum,
      expiresAt: ask.expiresAt,
      ...(repeats !== undefined && { doneBefore: repeats.earlier.map(({ key }) => key) }),
      ...(limits?.exceeded === true && { beyondLimits: true }),
    },
  };
}
