/** What was frozen at the start of a recorded run, in the words of a case: only what differs from the defaults. */
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import type { Json } from '../../core/json/json.js';
import type { ModelRoute } from '../../core/state/model.js';
import { DEFAULT_SETTINGS, type Settings } from '../../core/state/settings.js';
import type { FixtureDocument } from '../format/document.js';
import { settings as settingsFormat } from '../format/settings.js';
import { ofKind, outputOf, type Recording } from './recording.js';

type Written<Key extends keyof FixtureDocument> = NonNullable<FixtureDocument[Key]>;

const USD = 1_000_000;
/** What a case without a word reckons with. */
const CASE_WINDOW = 200_000;

/** Settings by which nothing is decided, or that a case has in another form. */
const NOT_SAID: readonly (keyof Settings)[] = [
  'requireProof',
  'heartbeatMs',
  'modelTimeoutMs',
  'unservedTimeoutMs',
  'streamRetentionMs',
  'includePartialMessages',
  'temperature',
  'betas',
  'versions',
  'showCwd',
  'persistSession',
  'fallbackModel',
];

export function budgetOf({ frozen }: Recording): Written<'budget'> {
  const isLogical = frozen.settings.turnCounting === 'logical';
  const fields = Object.entries(frozen.budget).filter(
    ([name, value]) =>
      (isLogical && name === 'maxModelCalls') ||
      value !== DEFAULT_BUDGET[name as keyof typeof DEFAULT_BUDGET],
  );
  return withTokens(Object.fromEntries(fields) as NonNullable<Written<'budget'>>, frozen);
}

/** Where more money than usual is named, usual tokens are said as well: left out they would grow with it. */
export function withTokens(
  budget: NonNullable<Written<'budget'>>,
  { budget: { maxInputTokens, maxOutputTokens } }: Pick<Recording['frozen'], 'budget'>,
): NonNullable<Written<'budget'>> {
  const { maxCostMicroUsd: money } = budget;
  const { maxCostMicroUsd: usual } = DEFAULT_BUDGET;
  const grows = typeof money === 'number' && typeof usual === 'number' && money > usual;
  return grows ? { ...budget, maxInputTokens, maxOutputTokens } : budget;
}

/** `asked`: models that others than the run itself ask. */
export function settingsOf(
  recording: Pick<Recording, 'frozen' | 'activities'>,
  asked: readonly ModelRoute[] = [],
): Written<'settings'> {
  const { settings, route, fallback } = recording.frozen;
  const own = Object.entries(settings).filter(
    ([name, value]) =>
      !NOT_SAID.includes(name as keyof Settings) &&
      JSON.stringify(value) !== JSON.stringify(DEFAULT_SETTINGS[name as keyof Settings]),
  );
  const others = fallback === undefined ? asked : [fallback, ...asked];
  const routes = [route, ...others, ...namedLater(recording)];
  return {
    ...(Object.fromEntries(own) as Written<'settings'>),
    model: route.name,
    ...(fallback !== undefined && { fallbackModel: fallback.name }),
    pricing: Object.fromEntries(routes.map(({ name, prices }) => [name, inUsd(prices)])),
    ...windowsOf(routes),
  };
}

/** What a case may say of settings: by others, such as patience with workers, nothing is decided in it. */
export function sayable(said: object = {}): object {
  return Object.fromEntries(Object.entries(said).filter(([name]) => name in settingsFormat.shape));
}

/** Models that a person named on the way. */
function namedLater(recording: Pick<Recording, 'activities'>): readonly ModelRoute[] {
  return ofKind(recording, 'resolve_model').flatMap(({ activity }) => {
    const resolved = outputOf(activity, 'resolve_model')?.resolved;
    return resolved?.ok === true ? [resolved.route] : [];
  });
}

function inUsd({ input, output, cacheRead, cacheWrite }: ModelRoute['prices']) {
  return {
    input: input / USD,
    output: output / USD,
    cacheRead: cacheRead / USD,
    cacheWrite: cacheWrite / USD,
  };
}

function windowsOf(routes: readonly ModelRoute[]): Pick<Written<'settings'>, 'contextWindow'> {
  if (routes.every(({ contextWindow }) => contextWindow === CASE_WINDOW)) return {};
  return {
    contextWindow: Object.fromEntries(
      routes.map(({ name, contextWindow }) => [name, contextWindow]),
    ),
  };
}

export function policyOf({ frozen }: Pick<Recording, 'frozen'>): Pick<FixtureDocument, 'policy'> {
  const { rules } = frozen.policy;
  if (rules.length === 0) return {};
  // A policy of a case has the form of the runtime's.
  return { policy: rules.map((rule) => ({ ...rule })) as unknown as Written<'policy'> };
}

export function taskOf({ start }: Recording): Written<'task'> {
  const { goal: _, metadata: __, ...rest } = start.task;
  return rest as unknown as { readonly [key: string]: Json } as Written<'task'>;
}
