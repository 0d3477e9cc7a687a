/** Forking a run from code: what `holdfast fork RUN --at STEP --live` does. */
import type { BudgetLimits } from '../../authoring/budget-in-usd.js';
import { parseBudget } from '../../authoring/check-limits.js';
import type { Config } from '../../authoring/index.js';
import type { PolicyDeclaration } from '../../authoring/policy.js';
import { resultText } from '../../activities/tool/result-text.js';
import type { HoldfastClient, RunHandle } from '../../client/index.js';
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import {
  checkOptions,
  COUNT,
  each,
  FIELDS,
  FLAG,
  isRecord,
  oneOf,
  TEXT,
  type OptionRules,
} from '../../pure/options.js';
import { resolveRoute } from '../../providers/routes.js';
import type { Store } from '../../store/store.js';
import { callsBelow } from './calls-below.js';
import type { ForkChanges } from './frozen.js';
import { liveFork, startLive } from './live.js';
import { placeIn } from './place.js';

/** Which run is forked, after which step, and what is different in the fork. */
export interface ForkRunOptions {
  /** The store of the workers, as `openStore` gives it. */
  readonly store: Store;
  /** The recorded run: one that has ended, or is under way. */
  readonly runId: string;
  /** After which step, by its number (`holdfast inspect RUN` lists them); `last` is the newest of a run that is under way. */
  readonly at: number | 'last';
  /** Said by the user before the next request. */
  readonly message?: string;
  /** The model that goes on, by its name. */
  readonly model?: string;
  /** In place of those of the agent. */
  readonly instructions?: string;
  /** In place of that of the agent. */
  readonly policy?: PolicyDeclaration;
  /** Limits in place of the recorded ones. Counters and money go on from those of the run. */
  readonly budget?: BudgetLimits;
  /** What calls returned that the model has not answered to yet, by call id. */
  readonly results?: { readonly [callId: string]: Json };
  /** Prompt, tools, policy, limits and hooks are those of the agent in this configuration, which the workers serve. */
  readonly config?: Config;
  /** `name@version` of a tool of `config`, in place of the tool of this name. */
  readonly tool?: string;
  /** By the newest rules. Default: by those of the recorded run. */
  readonly rules?: 'newest';
  /** Of the fork. Default: a new `run_<ulid>`. */
  readonly forkId?: string;
  /** False: it does not wait until the fork is open. */
  readonly wait?: boolean;
}

const RULES: OptionRules<ForkRunOptions> = {
  store: {
    is: 'what openStore gives',
    fits: (value) => isRecord(value) && typeof value['putFork'] === 'function',
    isNeeded: true,
  },
  runId: { ...TEXT, isNeeded: true },
  at: {
    is: "the number of a step, from 1, or 'last'",
    fits: (value) => value === 'last' || COUNT.fits(value),
    isNeeded: true,
  },
  ...each(TEXT, 'message model instructions tool forkId'),
  ...each(FIELDS, 'policy budget results'),
  config: {
    is: 'what defineConfig gives',
    fits: (value) => isRecord(value) && value['agents'] instanceof Map,
  },
  rules: oneOf('newest'),
  wait: FLAG,
};

/**
 * Starts a new run from the state of a recorded run of the client's tenant after a step, with the named changes. A call that
 * the recorded run, a run of its tree, or a fork of one of these handed over asks a person first. Nothing of the recorded run
 * is written. Errors: InvalidConfig for an option, ForkRefused, StepNotFound, RunNotFound, HistoryMissing, RunExists,
 * UnknownModel, InvalidAgent for a policy, ServerUnavailable, StoreUnavailable.
 */
export async function forkRun(client: HoldfastClient, options: ForkRunOptions): Promise<RunHandle> {
  checkOptions('forkRun', options, RULES);
  const changes = changesOf(options);
  const { store, runId, at, rules, forkId, wait } = options;
  const { tenant } = client.handle(runId);
  const histories = { ...(await client.historiesOf(runId)), archive: store };
  const place = await placeIn(histories, { tenant, runId }, at);
  const below = await callsBelow(histories, place.bundle);
  const terms = { changes, below, source: 'run', ...(rules !== undefined && { rules }) } as const;
  return startLive(await liveFork(place, terms), {
    client,
    store,
    ...(forkId !== undefined && { runId: forkId }),
    ...(wait !== undefined && { wait }),
  });
}

function changesOf(options: ForkRunOptions): ForkChanges {
  const { message, model, instructions, policy, budget, results, config, tool } = options;
  if (tool !== undefined && config === undefined) {
    throw unusable('tool', 'names a tool of a configuration', 'Give the configuration as config.');
  }
  return {
    ...(message !== undefined && { message }),
    ...(model !== undefined && { route: resolveRoute(model, config) }),
    ...(instructions !== undefined && { instructions }),
    ...(policy !== undefined && { policy }),
    ...(budget !== undefined && {
      budget: parseBudget(budget, { code: 'InvalidConfig', subject: 'forkRun' }),
    }),
    ...(results !== undefined && { results: textsOf(results) }),
    ...(config !== undefined && { config }),
    ...(tool !== undefined && { tool }),
  };
}

/** As the model sees them. */
function textsOf(results: NonNullable<ForkRunOptions['results']>): ForkChanges['results'] & object {
  const texts = Object.entries(results).map(([callId, value]): [string, string] => {
    const made = resultText(value);
    if (made.ok) return [callId, made.text];
    const shown = callId.slice(0, ID_CHARS_SHOWN);
    throw unusable(`results.${shown}`, `is no JSON (${made.reason})`, 'Give a text, or JSON.');
  });
  return Object.fromEntries(texts);
}

const ID_CHARS_SHOWN = 60;

function unusable(option: string, why: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `The option ${option} of forkRun ${why}.`, { hint });
}
