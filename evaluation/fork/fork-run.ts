/** Forking a run from code. */
import { parseBudget } from '../../authoring/check-limits.js';
import {
  isConfig,
  type BudgetLimits,
  type Config,
  type PolicyDeclaration,
} from '../../authoring/index.js';
import { policyOf } from '../../authoring/policy.js';
import type { HoldfastClient, RunHandle } from '../../client/index.js';
import { isRunId } from '../../client/runs/run-id.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isChildId } from '../../pure/goal/child-start.js';
import {
  checkOptions,
  COUNT,
  isRecord,
  isTexts,
  needed,
  oneOf,
  rules,
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

const RULES: OptionRules<ForkRunOptions> = {
  ...rules('text! runId, text message model instructions tool'),
  ...rules('object policy budget, flag wait'),
  store: needed({
    is: 'what openStore gives',
    fits: (value) => isRecord(value) && 'putFork' in value,
  }),
  at: needed({
    is: "the number of a step, or 'last'",
    fits: (value) => value === 'last' || COUNT.fits(value),
  }),
  results: {
    is: 'texts by call id',
    fits: (value) => isRecord(value) && isTexts(Object.values(value)),
  },
  config: { is: 'what defineConfig gives', fits: isConfig },
  forkId: {
    is: '1 to 128 of the characters A-Z a-z 0-9 . _ : - and no id of a cycle or sub-agent',
    fits: (value) => typeof value === 'string' && isRunId(value) && !isChildId(value),
  },
  rules: oneOf('newest'),
};

/**
 * Starts a new run from the state of a recorded one after a step, as `holdfast fork --live` does. What that one, or any run of
 * its family, handed over asks a person first. Errors: InvalidConfig, UnknownModel, ForkRefused, StepNotFound, RunNotFound,
 * RunExists, InvalidRequest for a tool that `config` does not have, UnknownAgent and others of an agent of `config` that cannot
 * be opened, and those of reading the run and of a start.
 */
export async function forkRun(client: HoldfastClient, options: ForkRunOptions): Promise<RunHandle> {
  checkOptions('forkRun', options, RULES);
  const { store, runId, at, model, budget, rules: followed, forkId, wait, ...rest } = options;
  const place = { code: 'InvalidConfig', subject: 'forkRun' } as const;
  if (rest.tool !== undefined && rest.config === undefined) {
    throw new HoldfastError(place.code, 'forkRun has a tool without a configuration.', {
      hint: 'Give `config`, which has the tool, or leave `tool` out.',
    });
  }
  policyOf('', rest.policy, place);
  const changes = {
    ...rest,
    route: model === undefined ? undefined : resolveRoute(model, rest.config),
    budget: budget && parseBudget(budget, place),
  };
  const { tenant } = client.handle(runId);
  const histories = { ...(await client.historiesOf(runId)), archive: store };
  const from = await placeIn(histories, { tenant, runId }, at);
  const below = await callsBelow(histories, from.bundle);
  const live = await liveFork(from, { changes, rules: followed, below, source: 'run' });
  return startLive(live, { client, store, runId: forkId, wait });
}
