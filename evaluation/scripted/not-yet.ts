/**
 * What a fixture can say and the runtime cannot do yet: such a case is reported as broken, because playing
 * it without what it is about would prove nothing. Whoever builds a feature takes its line out.
 */
import type { Action, CaseBudget, CaseSettings, CaseTask, Fixture } from '../fixture.js';

const SETTINGS: readonly (keyof CaseSettings)[] = [
  'wrapUpTurn',
  'fallbackModel',
  'fallbackSticky',
  'interruptMode',
  'includePartialMessages',
  'streamCalls',
  'closeOnReturn',
  'persistSession',
  'checkpointEvery',
  'reviewEvery',
  'versions',
];

/** A setting that only says what is the case anyway is no reason. */
const WITHOUT_EFFECT: Partial<Record<keyof CaseSettings, unknown>> = {
  wrapUpTurn: false,
  fallbackSticky: 'turn',
  interruptMode: 'stop',
  includePartialMessages: false,
  streamCalls: false,
};

const BUDGET: readonly (keyof CaseBudget)[] = ['maxThinkingTokens'];

const TASK: readonly (keyof CaseTask)[] = ['sessionId', 'resume', 'continue'];

const ACTIONS: readonly Action['kind'][] = ['setModel', 'setMaxThinkingTokens'];

type Feature = readonly [name: string, used: (fixture: Fixture) => boolean];

const FEATURES: readonly Feature[] = [
  ['agents', ({ agents }) => agents.size > 0],
  ['sessions', ({ sessions }) => sessions.length > 0],
  ['tools.outputSchema', (fixture) => toolsOf(fixture).some((tool) => 'outputSchema' in tool)],
  ['tools.kind', (fixture) => toolsOf(fixture).some(({ kind }) => !KINDS.includes(kind))],
];

const KINDS: readonly string[] = ['tool', 'handoff', 'human_input'];

/** The first thing in the fixture that cannot be played, by its name there. */
export function notYet(fixture: Fixture): string | undefined {
  const { settings, budget, task, during } = fixture;
  const setting = SETTINGS.find(
    (name) => settings[name] !== undefined && settings[name] !== WITHOUT_EFFECT[name],
  );
  if (setting !== undefined) return `settings.${setting}`;
  const limit = BUDGET.find((name) => budget[name] !== undefined);
  if (limit !== undefined) return `budget.${limit}`;
  const field = TASK.find((name) => task[name] !== undefined);
  if (field !== undefined) return `task.${field}`;
  const actions = during.flatMap((moment) => moment.actions);
  const action = actions.find(({ kind }) => ACTIONS.includes(kind));
  if (action !== undefined) return `during.${action.kind}`;
  return FEATURES.find(([, used]) => used(fixture))?.[0];
}

function toolsOf({ manifest, tools }: Fixture) {
  return manifest.flatMap((name) => tools.get(name) ?? []);
}
