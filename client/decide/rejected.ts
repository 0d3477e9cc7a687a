/** Decisions that do not count, as errors. */
import { ownValue } from '../../core/json/json.js';
import type { RejectionReason, Verdict } from '../../core/state/ask.js';
import type { DecisionKind } from '../../core/state/ask-kinds.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { AskView } from '../../core/state/ask-view.js';

interface Rejected {
  readonly askId: string;
  readonly runId: string;
  readonly known?: string;
  /** That says the same with a role that counts, as the end of a sentence. */
  readonly command?: string;
  /** Of a clarifying question. */
  readonly isAnswer?: true;
  /** A login said who decides: nobody may name themselves, or say their own roles. */
  readonly atDesk?: boolean;
  /** The run has not judged it: it may have heard the same in time. */
  readonly unheard?: true;
}

/** Of decisions that need no further option. */
export function commandFor(
  { askId, roles }: Pick<AskView, 'askId' | 'roles'>,
  { decision, by }: { readonly decision: DecisionKind; readonly by: string },
): string {
  const [role] = roles;
  if (role === undefined || (decision !== 'approve' && decision !== 'reject')) return '';
  const given = [askId, by, role];
  if (!given.every((word) => PLAIN_WORD.test(word))) return '';
  return `: \`holdfast ${decision} ${askId} --as ${by} --role ${role}\``;
}

/** A shell takes it as it is. */
const PLAIN_WORD = /^[\w.:@/+][\w.:@/+-]{0,199}$/;

/** A refusal as an error. */
export function decisionRejected(
  { reason, message, decided }: Extract<Verdict, { accepted: false }>,
  { askId, runId, known = '', command = '', isAnswer, atDesk = false, unheard }: Rejected,
): HoldfastError {
  const when = decided?.at === undefined ? '' : ` (sent ${timeText(decided.at)})`;
  const noun = isAnswer === true ? 'answer' : 'decision';
  const text = `The ${noun} does not count: ${message}${when}.${known}`;
  return new HoldfastError('DecisionRejected', text, {
    hint:
      isAnswer === true && reason === 'already_decided'
        ? `See the answer with \`holdfast grounds ${askId}\`.`
        : (ownValue(atDesk ? DESK_HINTS : HINTS, reason) ?? '').replace(PLACES, (place) =>
            place === 'RUN' ? runId : command,
          ),
    details: {
      reason,
      askId,
      runId,
      ...(decided !== undefined && { decided }),
      ...(unheard && { unheard }),
    },
  });
}

/** What the run will say of a decision after the expiry, whenever it hears it; undefined: it was made in time. */
export function latenessOf(
  { expiresAt }: Pick<AskView, 'expiresAt'>,
  { decidedAt }: { readonly decidedAt: number },
): Extract<Verdict, { accepted: false }> | undefined {
  if (decidedAt <= expiresAt) return undefined;
  const message = `the question expired at ${timeText(expiresAt)}`;
  return { accepted: false, reason: 'late', message };
}

/** Greatest time that a date can have, in ms. */
const DATE_MAX_MS = 8.64e15;

export function timeText(ms: number): string {
  return Math.abs(ms) <= DATE_MAX_MS ? new Date(ms).toISOString() : String(ms);
}

const PLACES = /RUN|COMMAND/;

const REJECTION_HINTS: { readonly [reason in RejectionReason]: string } = {
  unknown_ask: 'List what waits for a person with `holdfast approvals`.',
  mismatched: 'The question has changed; look at it again with `holdfast approvals`.',
  vague: 'Name the exact action by its hash.',
  late: 'The question had expired; see what the run did with `holdfast show RUN`.',
  duplicate: 'Each person decides once; another person may decide as well.',
  already_decided: 'See the decision with `holdfast show RUN`.',
  role_missing: 'Decide with one of the roles that the question names (--role)COMMAND.',
  own_request:
    'Let another person decide, at the desk with their token or with --as of their name.',
  busy: 'See what became of the other correction with `holdfast approvals`.',
  correction_refused: 'Correct it otherwise, or decide on the call as it is.',
  not_applicable:
    'Approvals take approve, reject, modify, or replace by another tool of the run; unknown outcomes happened, not_happened or stop.',
  malformed: 'Correct the decision and send it again.',
  unproven: 'Decide at the approval desk (`holdfast console`), which signs what you decide.',
  unknown_key: 'Decide again in a moment: the run is being told of the new key.',
  clock_ahead: 'Set the clock of the machine that decided, then send the decision again.',
  run_closing: 'The run is ending or has ended; see it with `holdfast show RUN`.',
};

/** A run of a newer release may give a reason that is not known here. */
const HINTS: { readonly [reason: string]: string } = REJECTION_HINTS;

const DESK_HINTS: typeof HINTS = {
  ...HINTS,
  role_missing: 'Let somebody decide whose login has one of the roles that the question names.',
  own_request: 'Let another person decide, with their own login.',
};
