/**
 * The agent of a run as a configuration has it now: opened as a run of today is, and no further.
 * Invariant: nothing of anybody is asked for it, neither a model nor a hook nor a gate, and no folder is read.
 */
import type { Agent, Config, TaskGate } from '../../authoring/index.js';
import type { ActivityEffect } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { OpenRun } from '../../core/state/run.js';
import type { StartInput } from '../../core/state/task.js';
import { argumentsOf, attributesOf } from '../../recording/history.js';
import type { Bundle } from '../../replay/bundle.js';
import type { MemoryStore } from '../../store/store.js';
import { startSimulation } from '../../testing/simulation/index.js';

/** Nothing is waited for, so an opening takes milliseconds. */
const LIMIT_MS = 60_000;

export interface Opening {
  readonly store: MemoryStore;
  readonly bundle: Bundle;
  readonly run: OpenRun;
}

/** Errors: those of an opening, and `ForkRefused` for one that takes longer than `limitMs` of real time. */
export async function openedBy(
  config: Config,
  { store, bundle, run }: Opening,
  limitMs = LIMIT_MS,
): Promise<Frozen> {
  const { name } = run.frozen.agent;
  const late = new AbortController();
  const limit = setTimeout(() => late.abort(neverOpened(name, limitMs)), limitMs);
  const opening = startSimulation({
    start: { ...startOf(bundle), agent: name },
    runId: `${run.runId}.opening`,
    store,
    config: unasking(config),
    providers: new Map(),
    signal: late.signal,
    instead: unasked,
    onEvent: ({ type }) => {
      if (type === 'session_init') opening.send({ type: 'cancel_requested' });
    },
  });
  const final = await opening.finish().finally(() => clearTimeout(limit));
  const { frozen } = opening.run();
  if (frozen !== undefined && final.kind !== 'refused') return frozen;
  const { code = 'UnknownAgent', message = '' } = final.kind === 'refused' ? final : {};
  throw new HoldfastError(code as 'UnknownAgent', message, {
    hint: `The configuration needs an agent ${name} that can be opened with the task of the run.`,
  });
}

function startOf(bundle: Bundle): StartInput {
  const [first] = bundle.segments[0]?.events ?? [];
  const given = argumentsOf(attributesOf(first, 'workflowExecutionStarted').input)[0];
  const {
    session: _,
    parent: __,
    store: ___,
    fork: ____,
    ...start
  } = given as unknown as StartInput;
  return start;
}

/** Hooks have no opinion: without an answer of theirs the opening would wait for it for ever. */
function unasked({ kind, input }: ActivityEffect): Promise<object> | undefined {
  if (kind === 'run_hooks')
    return Promise.resolve({ outcomes: [], eventsUpTo: input.events.at(-1)?.stamp.seq ?? -1 });
  return kind === 'call_model'
    ? Promise.reject(new Error('Nothing is asked while a fork is opened.'))
    : undefined;
}

/** What gates say of the task, and what lies in the folder of an agent, is no part of how an agent is frozen. */
function unasking(config: Config): Config {
  const agents = [...config.agents].map(([name, one]): [string, Agent] => {
    const { seed: _, ...agent } = ungated(one);
    return [name, agent];
  });
  return { ...ungated(config), agents: new Map(agents) };
}

function ungated<T extends { readonly refuseTask?: TaskGate }>(one: T): Omit<T, 'refuseTask'> {
  const { refuseTask: _, ...rest } = one;
  return rest;
}

function neverOpened(agent: string, limitMs: number): HoldfastError {
  return new HoldfastError(
    'ForkRefused',
    `The agent ${agent} of the configuration did not open within ${limitMs / 1_000} s.`,
    {
      hint: 'Leave out the configuration, or parts of the agent, one after the other, until the fork begins: the last one does not end.',
    },
  );
}
