/**
 * Plays a recorded conversation with the real decisions, activities, store and provider, without Temporal: the model is
 * the scripted one behind its vendor's protocol. Gives the bytes of each request, as they left.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { performActivity } from '../../../activities/index.js';
import {
  defineAgent,
  defineConfig,
  defineTool,
  ToolError,
  type Config,
} from '../../../authoring/index.js';
import { SUMMARY_REQUEST } from '../../../core/context/compaction.js';
import { advance, receive } from '../../../core/loop/engine.js';
import { nextSegment, open } from '../../../core/loop/open.js';
import { ACTIVITIES, isActivity, type ActivityEffect } from '../../../core/state/effect.js';
import type { Input } from '../../../core/state/input.js';
import type { Run } from '../../../core/state/run.js';
import { openStore, type Store } from '../../../store/store.js';
import type { Script } from '../../../testing/index.js';
import { UNLIMITED } from '../../proving/unlimited.js';
import { attemptScope } from '../attempt-scope.js';
import type { Conversation } from './conversation.js';
import { beginFork } from './fork.js';
import { MODEL, type Vendor } from './vendors.js';

const RESULT_CHARS_MAX = 4_000_000;

export interface Play {
  readonly conversation: Conversation;
  readonly vendor: Vendor;
  /** Of the scripted model. */
  readonly baseUrl: string;
  /** Where the store lies; default: in memory, which no restart survives. */
  readonly folder?: string;
  /** Most replies of the run; default: no limit. */
  readonly turnsMax?: number;
  /** Of the model; default: never full. */
  readonly contextWindow?: number;
  /** Another worker opens the store and goes on with the run as it was written, after so many requests each. */
  readonly restartEvery?: number;
  /** The run continues as new, after so many requests each. */
  readonly segmentEvery?: number;
  /** Another run, a fork of this one, goes on after so many requests. */
  readonly forkAt?: number;
  /** A run that another process has begun. */
  readonly from?: Paused;
  /** Where this process leaves the rest to another. */
  readonly until?: number;
}

/** A run between two requests, as JSON. */
export interface Paused {
  readonly run: Run;
  /** Exchanges that are over. */
  readonly said: number;
  /** Requests that have left. */
  readonly sent: number;
}

export interface Played extends Paused {
  /** One for each request, in the order in which they left. */
  readonly bodies: readonly string[];
  readonly summaries: number;
  readonly segments: number;
}

const AGENT = 'bench';
const WIDE = 1_000_000_000;
const SUMMARY_TEXT = 'The customer asked for help with an order, and some of it was done. '.repeat(
  8,
);

/** Replies as they were recorded, in their order; a summary is none of them. */
export function replying(conversation: () => Conversation): Script {
  return ({ messages }) => {
    const text = JSON.stringify(messages);
    if (text.includes(SUMMARY_REQUEST.slice(0, 60))) return { text: SUMMARY_TEXT };
    const { exchanges } = conversation();
    const reply = exchanges.flatMap(({ replies }) => replies)[taken++];
    if (reply === undefined) return { text: 'Done.' };
    return {
      ...(reply.text !== null && reply.text !== '' && { text: reply.text }),
      calls: reply.calls.map(({ id, name, args }) => ({ id, tool: name, input: args as never })),
    };
  };
}

let taken = 0;

/** The next request gets the reply with this number. */
export function replyFrom(index: number): void {
  taken = index;
}

export async function play(options: Play): Promise<Played> {
  const { conversation, vendor, from } = options;
  const runId = `cache-${vendor.name}-${conversation.id}`;
  const goal = conversation.exchanges[0]?.said ?? '';
  const bodies: string[] = [];
  const worker = await workerFor(options, bodies);
  let run = from?.run ?? open({ v: 1, agent: AGENT, task: { goal } }, { runId, at: Date.now() });
  let said = from?.said ?? 1;
  let summaries = 0;
  try {
    while (run.final === undefined && bodies.length !== options.until) {
      const before = bodies.length;
      const step = advance(run);
      const inputs: Input[] = [];
      summaries += step.effects.filter(({ kind }) => kind === 'compact').length;
      for (const effect of step.effects.filter(isActivity)) {
        inputs.push(await outcomeOf(worker.open(), effect, run.runId));
      }
      run = goneOn(inputs.reduce(receive, step.run));
      if (bodies.length > before)
        run = await disturbed(run, options, { worker, sent: bodies.length });
      if (inputs.length > 0 || step.run.final !== undefined) continue;
      const next = conversation.exchanges[said];
      if (next === undefined) break;
      said += 1;
      const message = { type: 'user_message', text: next.said, id: `said-${said}` } as const;
      run = receive(run, { ...message, at: Date.now() });
    }
  } finally {
    await worker.close();
  }
  const sent = (from?.sent ?? 0) + bodies.length;
  return { run, said, sent, bodies, summaries, segments: run.segment.number + 1 };
}

/** The next execution of a run that continues as new. */
function goneOn(run: Run): Run {
  if (run.final?.kind !== 'continue_as_new') return run;
  const { final: _, ...rest } = run;
  const previousExecution = `segment-${run.segment.number}`;
  return nextSegment(written(rest as Run), { at: Date.now(), previousExecution });
}

interface Disturbed {
  readonly worker: BenchWorker;
  readonly sent: number;
}

async function disturbed(run: Run, options: Play, { worker, sent }: Disturbed): Promise<Run> {
  let next = run;
  if (isDue(sent, options.restartEvery)) {
    await worker.restart();
    next = written(next);
  }
  if (sent === options.forkAt) return beginFork(written(next), worker.open().store);
  return isDue(sent, options.segmentEvery)
    ? receive(next, { type: 'segment_full', at: Date.now() })
    : next;
}

function isDue(count: number, every: number | undefined): boolean {
  return every !== undefined && count % every === 0;
}

/** As it goes through a history. */
function written(run: Run): Run {
  return JSON.parse(JSON.stringify(run)) as Run;
}

type Worker = { readonly store: Store } & Pick<
  Parameters<typeof performActivity>[0],
  'config' | 'providers'
>;

interface BenchWorker {
  open(): Worker;
  /** Nothing of what it remembers is left. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Notes the body of every request that leaves. */
async function workerFor(options: Play, bodies: string[]): Promise<BenchWorker> {
  const { vendor, baseUrl, folder } = options;
  const send: typeof fetch = (url, init) => {
    if (typeof init?.body === 'string') bodies.push(init.body);
    return fetch(url, init);
  };
  const start = async (): Promise<Worker> => ({
    store: await openStore({ file: folder === undefined ? ':memory:' : join(folder, 'store.db') }),
    config: configOf(options),
    providers: new Map([[vendor.name, vendor.provider(baseUrl, send)]]),
  });
  let worker = await start();
  return {
    open: () => worker,
    async restart() {
      await worker.store.close();
      worker = await start();
    },
    close: () => worker.store.close(),
  };
}

async function outcomeOf(worker: Worker, effect: ActivityEffect, runId: string): Promise<Input> {
  const { kind, id, input } = effect;
  // Histories are not archived: there is no server.
  const scope = attemptScope({ effectId: id, runId, error: () => undefined });
  const output = await performActivity(worker, scope, { kind, input } as never);
  // An activity's output is that of its kind.
  return { type: ACTIVITIES[kind].outcome, id, output, at: Date.now() } as Input;
}

function configOf({ conversation, vendor, turnsMax, contextWindow }: Play): Config {
  const { tools, results, instructions } = conversation;
  const route = {
    name: `bench/${vendor.name}`,
    provider: vendor.name,
    model: MODEL,
    contextWindow: contextWindow ?? WIDE,
    maxOutputTokens: 2_000,
    prices: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
    pricesVersion: 'bench',
    temperatureAllowed: true,
  };
  const agent = defineAgent({
    name: AGENT,
    model: route.name,
    instructions,
    tools: tools.map(({ name, description }) =>
      defineTool({
        name,
        version: '1',
        description: description.slice(0, 4_000),
        input: z.looseObject({}),
        effect: 'read',
        run: (_, { callId }) => {
          const { content, error } = results[callId] ?? { content: 'Nothing.', error: false };
          if (error) throw new ToolError(content);
          return content;
        },
      }),
    ),
    settings: { afterAnswer: 'await_user' },
    budget: {
      ...UNLIMITED,
      maxTurns: turnsMax ?? 'unlimited',
      maxToolResultChars: RESULT_CHARS_MAX,
    },
  });
  return defineConfig({ agents: [agent], routes: [route] });
}
