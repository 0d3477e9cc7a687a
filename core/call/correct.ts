/**
 * What becomes of a correction (G9, G81): its arguments are checked like proposed ones, its permission is
 * decided anew, and only then does it take the place of the call that was asked about.
 *
 * Invariants:
 *  Q1 What validation or policy refuses is refused to the corrector; the original question stays open.
 *  Q2 A corrected call is bound anew: other digest, next revision of its key, a question of its own if it
 *     needs one. Nothing said about the original allows it.
 *  Q3 A rejection that comes before it is taken beats it (G119).
 */
import { CORRECTIONS_MAX, withoutCorrection } from '../ask/correction.js';
import { hearHeld, isBeaten, refuseWords } from '../ask/held-words.js';
import { type Correction, type Ask, type Decided } from '../state/ask.js';
import { showsNews, type Outlook } from '../controls/outlook.js';
import { closeAsk } from '../ask/open-ask.js';
import {
  askById,
  decidedOf,
  replaceAsk,
  withVerdict,
  go,
  type StationResult,
  baseOf,
  withOutlook,
} from '../step/open-work.js';
import type { Json } from '../json/json.js';
import { warn } from '../step/outbox.js';
import { hasHooks, type OpenRun, type Step } from '../state/run.js';
import {
  type Asker,
  type CheckedStage,
  type Question,
  type RecheckedStage,
  type WaitingStage,
} from '../state/call.js';
import { toolOf, actionOf, evaluate } from '../permission/permission.js';
import { hooksFor } from '../hooks/start.js';
import { permitAnew } from './admission.js';
import { startCheck } from './argument-check.js';

/** Sends the wanted arguments to `check_call`. */
export function checkCorrection(
  run: OpenRun,
  call: WaitingStage,
  { tool, args }: Correction,
): Step<OpenRun> {
  const toolVersion = toolOf(run, tool)?.version ?? call.toolVersion;
  return startCheck(run, call, {
    asker: { kind: 'correction', ...questionOf(call) },
    target: { tool, toolVersion },
    args,
  });
}

function questionOf({ askId, mode, hooked, sandbox, repeats }: WaitingStage): Question {
  return {
    askId,
    mode,
    ...(hooked !== undefined && { hooked }),
    ...(sandbox !== undefined && { sandbox }),
    ...(repeats !== undefined && { repeats }),
  };
}

/** The arguments are back. */
export function correct(
  run: OpenRun,
  call: RecheckedStage,
  asker: Extract<Asker, { kind: 'correction' }>,
): StationResult {
  const { kind: _, ...asked } = asker;
  const waiting: WaitingStage = { ...baseOf(call), stage: 'waiting', ...asked };
  const ask = askById(run, asker.askId);
  if (ask?.correction === undefined) return go(run, waiting);
  if (isBeaten(ask.correction)) return go(yieldToRejection(run, ask), waiting);
  const found = checkedAction(run, call, asker);
  return 'refusal' in found
    ? go(refusedToCorrector(run, { ...ask, correction: ask.correction }, found.refusal), waiting)
    : adopt(run, call, { ask, correction: ask.correction, asker, ...found });
}

interface Action {
  readonly tool: string;
  readonly toolVersion: string;
  readonly args: Json;
  readonly digest: string;
  readonly outlook: Outlook | undefined;
}

function checkedAction(
  run: OpenRun,
  { answer, target, digest: original, corrected, tool: proposed }: RecheckedStage,
  { hooked }: Question,
): { readonly action: Action } | { readonly refusal: string } {
  if (!answer.ok)
    return { refusal: `its arguments could not be checked: ${answer.failure.message}` };
  const { args, digest, check } = answer.output;
  if (!check.ok) return { refusal: check.message };
  if ((corrected?.times ?? 0) >= CORRECTIONS_MAX) return { refusal: 'it was corrected too often' };
  if (digest === original) return { refusal: 'it changes nothing; approve the call instead' };
  const tool = toolOf(run, target.tool);
  if (tool === undefined) return { refusal: `the tool ${target.tool} is gone` };
  const [unasked] = unaskedHooks(run, { asked: proposed, tool: target.tool });
  if (unasked !== undefined) return { refusal: `the hook ${unasked} has not seen this call` };
  const wanted = actionOf(tool, { args, ...(hooked !== undefined && { hooked }) });
  const { decision, reason } = evaluate(run, wanted);
  return decision === 'deny'
    ? { refusal: reason ?? 'the policy denies it' }
    : { action: { ...target, args, digest, outlook: check.outlook } };
}

/** Hooks of the wanted tool that were not asked about the proposed one: a gate that was not asked does not open. */
function unaskedHooks(
  run: OpenRun,
  { asked, tool }: { readonly asked: string; readonly tool: string },
): readonly string[] {
  if (asked === tool || !hasHooks(run, 'PreToolUse')) return [];
  const heard = hooksFor(run, { point: 'PreToolUse', tool: asked });
  return hooksFor(run, { point: 'PreToolUse', tool }).filter((hook) => !heard.includes(hook));
}

function refusedToCorrector(
  run: OpenRun,
  ask: Ask & { readonly correction: Correction },
  message: string,
): OpenRun {
  const { kind, vote } = ask.correction;
  const freed = withoutCorrection(run, ask, {
    accepted: false,
    reason: 'correction_refused',
    message,
  });
  const told = warn(freed, 'correction_refused', `${kind} by ${vote.by} on ${ask.id}: ${message}`);
  return withHeldHeard(told, ask);
}

/** Somebody has rejected while it was checked, or in the same moment: the correction is no longer wanted. */
export function yieldToRejection(run: OpenRun, ask: Ask): OpenRun {
  const { correction, ...bare } = ask;
  if (correction === undefined) return run;
  const freed = withHeldHeard(replaceAsk(run, bare), ask);
  const decided = decidedOf(askById(freed, ask.id) ?? bare);
  return refuseWords(freed, ask, { words: [correction], decided });
}

function withHeldHeard(run: OpenRun, { id, correction }: Ask): OpenRun {
  const ask = askById(run, id);
  const { held = [] } = correction ?? {};
  return held.length === 0 || ask === undefined ? run : hearHeld(run, ask, held);
}

interface Adoption {
  readonly ask: Ask;
  readonly correction: Correction;
  readonly action: Action;
  readonly asker: Question;
}

function adopt(run: OpenRun, call: RecheckedStage, adoption: Adoption): StationResult {
  const { ask, correction, action } = adoption;
  const outcome = correction.kind === 'modify' ? 'modified' : 'replaced';
  const { by, roles, decidedAt, reason, signed } = correction.vote;
  const { correction: _, ...bare } = ask;
  const told = withVerdict(run, correction.ticket, { accepted: true, outcome });
  const { tool, args } = action;
  const closed = closeAsk(replaceAsk(told, { ...bare, votes: [correction.vote] }), ask.id, {
    outcome,
    ...(reason !== undefined && { reason }),
    corrected: { tool, args },
  });
  const { held = [] } = correction;
  const decided: Decided = { outcome, by, at: decidedAt };
  const heard =
    held.length === 0 ? closed.run : refuseWords(closed.run, ask, { words: held, decided });
  const next = permitAnew(
    withoutArguments(heard, ask.id),
    boundAnew(call, adoption),
    closed.effects,
  );
  if (next.kind !== 'go' || next.call.stage !== 'waiting') return next;
  // Nobody has agreed to what they were not shown: then even the corrector is asked.
  if (showsNews(ask.repeats, next.call)) return next;
  // Their signature is under the correction: it is what they proved, and it made this call.
  const proven = signed !== undefined && { signed };
  const votes = [{ by, roles, decidedAt, decision: 'approve', ...proven }] as const;
  // A correction does not make the others wait anew.
  const escalatesAt = ask.escalation?.at;
  const waiting = { ...next.call, votes, ...(escalatesAt !== undefined && { escalatesAt }) };
  return { ...next, call: waiting };
}

function boundAnew(call: RecheckedStage, { action, asker, correction }: Adoption): CheckedStage {
  const { outlook, ...bound } = action;
  const replaced = action.tool !== call.tool || call.corrected?.kind === 'replaced';
  return {
    ...withOutlook(call, { outlook }),
    ...bound,
    stage: 'checked',
    // Its hooks have had their say: what they want of the original they want of it, too.
    hooked: asker.hooked ?? {},
    revision: call.revision + 1,
    attempt: 1,
    corrected: {
      kind: replaced ? 'replaced' : 'modified',
      by: correction.vote.by,
      times: (call.corrected?.times ?? 0) + 1,
    },
  };
}

/** The closed question is kept for late answers only; its arguments are in its event (R1). */
function withoutArguments(run: OpenRun, askId: string): OpenRun {
  const ask = askById(run, askId);
  if (ask === undefined) return run;
  const { args: _, ...rest } = ask;
  return replaceAsk(run, rest);
}
