/**
 * Changed arguments of a call on their way through `check_call`: a hook's, a person's, or those of resolved
 * references. The call remembers who asked; what the answer means is decided when the call moves on.
 * Invariant: a call is `checking` exactly as long as its effect is in flight.
 */
import { storeWork } from '../step/clock.js';
import {
  refOf,
  type ActivityEffect,
  type CheckCallInput,
  type CheckCallOutput,
} from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import type { CallCheck } from '../state/model.js';
import { STORE_LIMITS, nextId, start } from '../step/inflight.js';
import { isBlobRef, type Json } from '../json/json.js';
import { follows } from '../step/changes.js';
import { warn } from '../step/outbox.js';
import type { OpenRun, Step } from '../state/run.js';
import { codeOf } from '../step/route.js';
import { adoptSchemaMetBy } from './schema-changed.js';
import {
  type Asker,
  type Call,
  type CheckAnswer,
  type CheckingStage,
  type CheckTarget,
} from '../state/call.js';
import { withCall, baseOf, type StationResult } from '../step/open-work.js';

export interface CheckRequest extends Pick<CheckCallInput, 'state' | 'when'> {
  readonly asker: Asker;
  readonly target: CheckTarget;
  readonly args: Json;
}

/** Sends arguments to `check_call`; the call waits as `checking` until they are back. */
export function startCheck(run: OpenRun, call: Call, request: CheckRequest): Step<OpenRun> {
  const { asker, target, args, state, when } = request;
  const effectId = nextId(run, 'check_call');
  const started = start(run, 'check_call', (id, events): ActivityEffect => ({
    kind: 'check_call',
    id,
    input: {
      v: 1,
      run: refOf(run),
      ...target,
      args,
      // Only texts that the call already names: a hash in somebody's words opens nothing. What hooks say
      // was stored by their activity, which refuses such words.
      blobs: [...blobsIn(call.args), ...(asker.kind === 'hook' ? blobsIn(args) : [])],
      argsBytesMax: argumentBytesFor(run),
      ...(state !== undefined && { state }),
      ...(when !== undefined && { when }),
      ...codeOf(run, target.tool),
      events,
    },
    limits: storeWork(run, STORE_LIMITS),
    summary: `arguments of ${target.tool}`,
  }));
  const checking: CheckingStage = { ...baseOf(call), stage: 'checking', effectId, asker, target };
  return { run: withCall(started.run, checking), effects: started.effects };
}

export function callChecked(run: OpenRun, effectId: string, output: CheckCallOutput): OpenRun {
  const { eventsUpTo: _, workedMs: __, schemaHash, ...checked } = output;
  const call = checkingOf(run, effectId);
  const told =
    schemaHash === undefined || call === undefined ? run : adoptSchemaMetBy(run, call, schemaHash);
  // Those that nobody has checked before are told with their validation.
  const isNew = call?.asker.kind === 'code' && call.asker.anew !== true;
  const warned =
    call === undefined || isNew
      ? told
      : tellLeftOut(told, { id: call.id, tool: call.target.tool }, checked.check);
  return answered(warned, effectId, { ok: true, output: checked });
}

/** What of the arguments does not reach the tool. */
export function tellLeftOut(
  run: OpenRun,
  { id, tool }: Pick<Call, 'id' | 'tool'>,
  check: CallCheck,
): OpenRun {
  if (!check.ok || check.leftOut === undefined || !follows(run, 'toldLeftOut')) return run;
  const names = check.leftOut.join(', ');
  return warn(
    run,
    'arguments_left_out',
    `${tool} ${id} declares no ${names}: it does not get that`,
  );
}

export function callNotChecked(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  return answered(run, effectId, { ok: false, failure });
}

function answered(run: OpenRun, effectId: string, answer: CheckAnswer): OpenRun {
  const call = checkingOf(run, effectId);
  if (call === undefined) return warn(run, 'late_input', `${effectId} belongs to no call`);
  const { asker, target } = call;
  return withCall(run, { ...baseOf(call), stage: 'rechecked', asker, target, answer });
}

function checkingOf(run: OpenRun, effectId: string): CheckingStage | undefined {
  return run.turn?.calls.find(
    (one): one is CheckingStage => one.stage === 'checking' && one.effectId === effectId,
  );
}

/** What changed arguments of all calls of a turn may take in the run (R1). */
const ARGUMENT_BYTES_PER_TURN = 65_536;

function argumentBytesFor(run: OpenRun): number {
  return Math.floor(ARGUMENT_BYTES_PER_TURN / Math.max(1, run.turn?.calls.length ?? 1));
}

/** Hashes of the stored texts that arguments name. */
function blobsIn(args: Json): readonly string[] {
  if (typeof args !== 'object' || args === null) return [];
  if (isBlobRef(args)) return [args.$blob];
  return Object.values(args).flatMap(blobsIn);
}

/** Nothing happened, and nothing that was said of the call so far counts for what is to happen now. */
export function checkAgain(run: OpenRun, call: Call): StationResult {
  const { outdated: _, ...rest } = call;
  const { tool, toolVersion, args, revision } = rest;
  const request = {
    asker: { kind: 'code', anew: true },
    target: { tool, toolVersion },
    args,
  } as const;
  const revised = { ...rest, revision: revision + 1, attempt: 1 };
  return { kind: 'moved', step: startCheck(run, revised, request) };
}
