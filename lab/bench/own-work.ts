/**
 * What a turn costs of ours alone: decisions, payloads and activities in one process, on a store of SQLite, without
 * Temporal and without a model's connection. Processor time, and the bytes that go through the history.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performActivity } from '../../activities/index.js';
import {
  ACTIVITIES,
  isActivity,
  type ActivityEffect,
  type OutputOf,
} from '../../core/state/effect.js';
import { briefInput } from '../../core/step/brief-input.js';
import { wholeOutput } from '../../core/step/brief-output.js';
import { advance, receive } from '../../core/loop/engine.js';
import type { Input } from '../../core/state/input.js';
import { open } from '../../core/loop/open.js';
import type { Run } from '../../core/state/run.js';
import type { ModelReply, ModelRequest, Provider } from '../../providers/provider.js';
import { openStore, type Store } from '../../store/store.js';
import { payloadConverter } from '../../workflows/payload-converter.js';
import { benchConfig, GOAL, MODEL, NOWHERE, QUICK_READER, READ, READER } from './setting.js';
import { spreadOf, spreadText, type Spread } from './pairs.js';
import type { BenchOptions } from './setting.js';
import { attemptScope } from './attempt-scope.js';
import { localFacts, type MachineFacts } from './machine.js';

export interface OwnWorkOptions extends BenchOptions {
  readonly turns: number;
  /** Runs that count, after one that does not. */
  readonly runs: number;
}

const PARTS = ['decisions', 'payloads', 'call_model', 'execute_tool', 'others'] as const;
type Part = (typeof PARTS)[number];

export interface OwnWork {
  /** Processor time (user and system) of the process, ms per turn; `all` of the parts. */
  readonly cpuMsPerTurn: Readonly<Record<Part | 'all', Spread>>;
  /** Of payloads, per turn, by `<activity> input` and `<activity> output`; of a quick read no input is recorded. */
  readonly bytesPerTurn: { readonly [payload: string]: number };
}

export interface OwnWorkReport {
  readonly machine: MachineFacts;
  readonly turns: number;
  readonly ordinary: OwnWork;
  readonly quick: OwnWork;
}

const RESULT_BYTES = 500;

export async function benchOwnWork(options: OwnWorkOptions): Promise<OwnWorkReport> {
  const { turns, say } = options;
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  const store = await openStore({ file: join(folder, 'store.db') });
  try {
    const ordinary = await workOfAgent(store, READER, options);
    const quick = await workOfAgent(store, QUICK_READER, options);
    for (const [name, { cpuMsPerTurn, bytesPerTurn }] of Object.entries({ ordinary, quick })) {
      const parts = Object.entries(cpuMsPerTurn).map(([part, ms]) => `${part} ${spreadText(ms)}`);
      say(`${name}, ms of processor time per turn: ${parts.join(', ')}`);
      const bytes = Object.entries(bytesPerTurn).map(([what, n]) => `${what} ${n.toFixed(0)}`);
      say(`${name}, bytes per turn: ${bytes.join(', ')}`);
    }
    return { machine: localFacts(), turns, ordinary, quick };
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function workOfAgent(
  store: Store,
  agent: string,
  { turns, runs }: OwnWorkOptions,
): Promise<OwnWork> {
  const played: Played[] = [];
  for (let run = 0; run <= runs; run += 1) {
    const runId = `bench-${agent}-t${turns}-own-${run}`;
    const one = await playRun({ store, agent, runId, turns });
    if (run > 0) played.push(one);
  }
  const spreads = PARTS.map((part) => [part, spreadOf(played.map(({ ms }) => ms[part] / turns))]);
  const all = spreadOf(
    played.map(({ ms }) => PARTS.reduce((sum, one) => sum + ms[one], 0) / turns),
  );
  const bytes = Object.entries(played[0]?.bytes ?? {}).map(([what, sum]) => [what, sum / turns]);
  return {
    cpuMsPerTurn: { all, ...(Object.fromEntries(spreads) as Record<Part, Spread>) },
    bytesPerTurn: Object.fromEntries(bytes) as { [payload: string]: number },
  };
}

interface Play {
  readonly store: Store;
  readonly agent: string;
  readonly runId: string;
  readonly turns: number;
}

interface Played {
  readonly ms: Record<Part, number>;
  readonly bytes: { [payload: string]: number };
}

async function playRun({ store, agent, runId, turns }: Play): Promise<Played> {
  const ms = { decisions: 0, payloads: 0, call_model: 0, execute_tool: 0, others: 0 };
  const bytes: { [payload: string]: number } = {};
  const deps = {
    store,
    config: benchConfig(NOWHERE),
    providers: new Map([['anthropic', scriptedProvider(turns)]]),
  };
  const timed = async <T>(part: Part, work: () => T | Promise<T>): Promise<T> => {
    const { user, system } = process.cpuUsage();
    const value = await work();
    const spent = process.cpuUsage();
    ms[part] += (spent.user - user + spent.system - system) / 1_000;
    return value;
  };
  const carried = (what: string, valueOf: () => unknown): Promise<unknown> =>
    timed('payloads', () => {
      const payload = payloadConverter.toPayload(valueOf());
      bytes[what] = (bytes[what] ?? 0) + (payload?.data?.length ?? 0);
      return payloadConverter.fromPayload<unknown>(payload!);
    });
  const outcome = async (effect: ActivityEffect): Promise<Input> => {
    const { kind, id } = effect;
    const input = await carried(`${kind} input`, () => briefInput(effect));
    const part = kind === 'call_model' || kind === 'execute_tool' ? kind : 'others';
    const given = { kind, input: input as typeof effect.input };
    const scope = attemptScope({ effectId: id, runId, error: (message) => console.error(message) });
    const output = await timed(part, () => performActivity(deps, scope, given));
    const heard = await carried(`${kind} output`, () => output);
    // An activity's output is that of its kind.
    const whole = wholeOutput(kind, heard as OutputOf<typeof kind>);
    return { type: ACTIVITIES[kind].outcome, id, output: whole, at: Date.now() } as Input;
  };
  let run: Run = open({ v: 1, agent, task: { goal: GOAL } }, { runId, at: Date.now() });
  while (run.final === undefined) {
    const step = await timed('decisions', () => advance(run));
    run = step.run;
    const inputs: Input[] = [];
    for (const effect of step.effects) if (isActivity(effect)) inputs.push(await outcome(effect));
    run = await timed('decisions', () => inputs.reduce(receive, run));
    if (inputs.length === 0 && run.final === undefined) throw new Error(`${runId} rests`);
  }
  if (run.final.kind !== 'result' || !run.final.result.completed) {
    throw new Error(`${runId} did not complete: ${JSON.stringify(run.final).slice(0, 500)}`);
  }
  return { ms, bytes };
}

/** The replies of the scripted model of the other benches. */
function scriptedProvider(turns: number): Provider {
  const replied = ({ messages }: ModelRequest): ModelReply => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    const usage = { input: 1_000, output: 50, cacheRead: 0, cacheWrite: 0 };
    const shared = { usage, usageSource: 'reported', model: MODEL, incompleteCalls: 0 } as const;
    if (turn + 1 >= turns) {
      const text = { type: 'text', text: 'Done.' } as const;
      return { ...shared, blocks: [text], raw: [text], stop: 'end_turn' };
    }
    const id = `toolu_${String(turn).padStart(20, '0')}`;
    const input = { orderId: `O-${turn}`, bytes: RESULT_BYTES };
    return {
      ...shared,
      blocks: [{ type: 'tool_use', id, tool: READ, args: input }],
      raw: [{ type: 'tool_use', id, name: READ, input }],
      stop: 'tool_use',
    };
  };
  return { name: 'anthropic', complete: (request) => Promise.resolve(replied(request)) };
}
