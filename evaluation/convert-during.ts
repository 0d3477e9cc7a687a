/** From what a fixture writes under `during` to patterns and actions told apart by `kind`. */
import type { Json } from '../core/json/json.js';
import type { ProposedStep } from '../core/state/goal/proposal.js';
import type { Action, JsonObject, Moment, Pattern } from './fixture.js';
import type { ServerChange } from './server-case.js';
import type { GoalAction } from './goal-case.js';
import type { FixtureDocument } from './format/document.js';
import type { WrittenAction, WrittenPattern } from './format/during.js';

type WrittenMoment = NonNullable<FixtureDocument['during']>[number];

export function momentOf(written: WrittenMoment): Moment {
  return {
    on: patternOf(written.on),
    actions: written.do.map(actionOf),
    times: written.times ?? 1,
  };
}

function patternOf(written: WrittenPattern): Pattern {
  if ('event' in written) return { kind: 'event', pattern: written };
  if ('modelCall' in written) {
    const { modelCall: number, ...rest } = written;
    return { kind: 'modelCall', number, ...rest };
  }
  return { kind: 'start' };
}

function actionOf(written: WrittenAction): Action {
  const { resolveApproval, provideInput, answerSupervisor, restartWorker } = written;
  if (resolveApproval !== undefined) return resolvingOf(resolveApproval);
  if (answerSupervisor !== undefined) return { kind: 'provideInput', value: answerSupervisor };
  if (provideInput !== undefined) {
    const { value, ...rest } = provideInput;
    return { kind: 'provideInput', ...rest, value: value as Json };
  }
  if (restartWorker !== undefined) return { kind: 'restartWorker', ...restartWorker };
  const { userMessage } = written;
  if (typeof userMessage === 'string') return { kind: 'userMessage', text: userMessage };
  if (userMessage !== undefined)
    return { kind: 'userMessage', text: userMessage.text, files: userMessage.attachments };
  if (written.setModel !== undefined) return { kind: 'setModel', model: written.setModel };
  if (written.setPermissionMode !== undefined) {
    return { kind: 'setPermissionMode', mode: written.setPermissionMode };
  }
  if (written.setMaxThinkingTokens !== undefined) {
    return { kind: 'setMaxThinkingTokens', tokens: written.setMaxThinkingTokens };
  }
  if (written.advance !== undefined) return { kind: 'advance', ms: durationMs(written.advance) };
  if (written.server !== undefined) return { kind: 'server', ...written.server } as ServerChange;
  return goalActionOf(written) ?? { kind: plainActionOf(written) };
}

type WrittenStep = NonNullable<WrittenAction['setPlan']>[number];

/** A step without a title is called by its id. */
export function stepOf(written: WrittenStep): ProposedStep {
  const { id, title = id, status = 'open', note, evidence } = written;
  return {
    id,
    title,
    status,
    ...(note !== undefined && { note }),
    ...(evidence !== undefined && { evidence }),
  };
}

const SAID = ['pause', 'resume', 'wake', 'stop'] as const;

function goalActionOf(written: WrittenAction): GoalAction | undefined {
  const { steer, review, setBudget, setPlan } = written;
  if (steer !== undefined) return { kind: 'steer', text: steer };
  if (review !== undefined) return { kind: 'review', ...(review !== true && review) };
  if (setBudget !== undefined) return { kind: 'setBudget', budget: setBudget };
  if (setPlan !== undefined) return { kind: 'setPlan', steps: setPlan.map(stepOf) };
  const said = SAID.find((name) => written[name] === true);
  return said === undefined ? undefined : { kind: said };
}

const PLAIN_ACTIONS = ['interrupt', 'cancel', 'close', 'killWorker', 'continueAsNew'] as const;

function plainActionOf(written: WrittenAction): (typeof PLAIN_ACTIONS)[number] {
  const kind = PLAIN_ACTIONS.find((name) => written[name] === true);
  if (kind === undefined) throw new Error(`no action in ${Object.keys(written).join()}`);
  return kind;
}

function resolvingOf(written: NonNullable<WrittenAction['resolveApproval']>): Action {
  const { args, value, argsHashOf, grant, ...rest } = written;
  return {
    kind: 'resolveApproval',
    ...rest,
    ...(args !== undefined && { args: args as JsonObject }),
    ...(grant !== undefined && { grant: grant as JsonObject }),
    ...(value !== undefined && { value: value as Json }),
    ...(argsHashOf !== undefined && { argsHashOf: argsHashOf as JsonObject }),
  };
}

const UNIT_MS: { readonly [unit: string]: number } = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `90s`, `1h`: the schema has checked the form. */
function durationMs(text: string): number {
  const count = Number.parseInt(text, 10);
  return count * (UNIT_MS[text.replace(/^\d+/, '')] ?? 1);
}
