/** Forking a run from code. */
import { parseBudget } from '../../authoring/check-limits.js';
import type { BudgetLimits, Config, PolicyDeclaration } from '../../authoring/index.js';
import type { HoldfastClient, RunHandle } from '../../client/index.js';
import {
  checkOptions,
  COUNT,
  isRecord,
  isTexts,
  needed,
  oneOf,
  rules,
  type OptionRule,
  type OptionRules,
} from '../../pure/options.js';
import { resolveRoute } from '../../providers/routes.js';
import type { Store } from '../../store/store.js';
import { callsBelow } from './calls-below.js';
import { liveFork, startLive } from './live.js';
import { placeIn } from './prepare.js';

/** Which run is forked, after which step, and what changes. */
export interface ForkRunOptions {
  /** That of the workers. */
  readonly store: Store;
  /** It has ended, or is under way. */
  readonly runId: string;
  /** After this step (`holdfast inspect RUN` lists them); `last`: the newest. */
  readonly at: number | 'last';
  /** Said by the user before the next request. */
  readonly message?: string;
  readonly model?: string;
  readonly instructions?: string;
  readonly policy?: PolicyDeclaration;
  readonly budget?: BudgetLimits;
  /** What calls returned that the model has not answered to, as texts by call id. */
  readonly results?: { readonly [callId: string]: string };
  /** The agent is as this configuration has it. */
  readonly config?: Config;
  /** `name@version`, of `config`. */
  readonly tool?: string;
  /** Default: those of the run. */
  readonly rules?: 'newest';
  /** Default: a new id. */
  readonly forkId?: string;
  /** False: not until the fork is open. */
  readonly wait?: boolean;
}

const made = (by: string, having: string): OptionRule => ({
  is: `what ${by} gives`,
  fits: (value) => isRecord(value) && having in value,
});

const RULES: OptionRules<ForkRunOptions> = {
  ...rules('text! runId, text message model instructions tool forkId'),
  ...rules('object policy budget, flag wait'),
  store: needed(made('openStore', 'putFork')),
  at: needed({
    is: "the number of a step, or 'last'",
    fits: (value) => value === 'last' || COUNT.fits(value),
  }),
  results: {
    is: 'texts by call id',
    fits: (value) => isRecord(value) && isTexts(Object.values(value)),
  },
  config: made('defineConfig', 'agents'),
  rules: oneOf('newest'),
};

/**
 * Starts a new run from the state of a recorded one after a step, as `holdfast fork --live` does. What that one, or any run of
 * its family, handed over asks a person first. Errors: InvalidConfig, ForkRefused, StepNotFound, RunNotFound, RunExists,
 * UnknownModel, and those of reading the run.
 */
export async function forkRun(client: HoldfastClient, options: ForkRunOptions): Promise<RunHandle> {
  checkOptions('forkRun', options, RULES);
  const { store, runId, at, model, budget, rules: followed, forkId, wait, ...rest } = options;
  const changes = {
    ...rest,
    route: model === undefined ? undefined : resolveRoute(model, rest.config),
    budget: budget && parseBudget(budget, { code: 'InvalidConfig', subject: 'forkRun' }),
  };
  const { tenant } = client.handle(runId);
  const histories = { ...(await client.historiesOf(runId)), archive: store };
  const place = await placeIn(histories, { tenant, runId }, at);
  const below = await callsBelow(histories, place.bundle);
  const live = await liveFork(place, { changes, rules: followed, below, source: 'run' });
  return startLive(live, { client, store, runId: forkId, wait });
}
