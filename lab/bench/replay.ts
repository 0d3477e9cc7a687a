/**
 * B5, replay: time to replay the histories of a long run, against the bare loop with as many events, and by turns, also with
 * quick reads. All are chains of continue-as-new; a worker that loads a run replays its last segment only. Each side has
 * its own worker: the bare loop the SDK's.
 */
import type { Client } from '@temporalio/client';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { HoldfastReplayer } from '../../worker/vm/holdfast-worker.js';
import { PAYLOAD_CONVERTER_PATH, workflowBundle } from '../../worker/workflow-code.js';
import { bareBundle } from './bare/worker.js';
import { executionsOf } from './history-size.js';
import { machineFacts, type MachineFacts } from './machine.js';
import { fixedSizes } from './message-sizes.js';
import { figureLines, measurePairs, type PairedFigures } from './pairs.js';
import { bareSide, heldSide, idOf, type Side } from './sides.js';
import {
  QUICK_READER,
  startBenchModel,
  startBenchServer,
  turnScript,
  type BenchOptions,
} from './setting.js';

export interface ReplayOptions extends BenchOptions {
  readonly pairs: number;
  readonly turns: number;
}

export interface ReplayReport {
  readonly machine: MachineFacts;
  readonly turns: number;
  readonly events: { readonly [side: string]: number };
  readonly segments: { readonly [side: string]: number };
  /** Of the whole chain, for each thousand events. */
  readonly msPerThousandEvents: PairedFigures;
  /** Of the longest segment: what loading a run costs at most. */
  readonly longestSegmentMs: PairedFigures;
  /** Of as many turns, without regard to segments; a turn with a quick read has fewer events. */
  readonly msPerTurn: PairedFigures;
  /** Against the same bare loop of two activities, and against one with a local activity. */
  readonly quickMsPerTurn: PairedFigures;
  readonly quickBesideLocalMsPerTurn: PairedFigures;
}

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

const SIZES = fixedSizes({ replyBytes: 300, resultBytes: 500 });
const WARM_TURNS = 5;

export async function benchReplay(options: ReplayOptions): Promise<ReplayReport> {
  const { turns, pairs, say } = options;
  const recorded = await record(options);
  const { bare, held, quick, local, machine } = recorded;
  const chains = { pairs, unit: 'ms per 1,000 events', say };
  say(`bare ${bare.events} events, held ${held.events} events, quick ${quick.events} events`);
  const msPerThousandEvents = await measurePairs({
    ...chains,
    bare: () => replayed(bare, bare.segments).then((ms) => (1_000 * ms) / bare.events),
    held: () => replayed(held, held.segments).then((ms) => (1_000 * ms) / held.events),
  });
  const longestSegmentMs = await measurePairs({
    ...chains,
    unit: 'ms',
    bare: () => replayed(bare, [longestOf(bare.segments)]),
    held: () => replayed(held, [longestOf(held.segments)]),
  });
  const perTurn = (chain: Chain) => replayed(chain, chain.segments).then((ms) => ms / turns);
  const ofTurns = { ...chains, unit: 'ms per turn', bare: () => perTurn(bare) };
  const msPerTurn = await measurePairs({ ...ofTurns, held: () => perTurn(held) });
  const ofQuick = { ...ofTurns, held: () => perTurn(quick) };
  const quickMsPerTurn = await measurePairs(ofQuick);
  const quickBesideLocalMsPerTurn = await measurePairs({ ...ofQuick, bare: () => perTurn(local) });
  const lines = [
    ...figureLines('replay', msPerThousandEvents),
    ...figureLines('longest segment', longestSegmentMs),
    ...figureLines('replay of a turn', msPerTurn),
    ...figureLines('replay of a turn with a quick read', quickMsPerTurn),
    ...figureLines('the same beside a local activity', quickBesideLocalMsPerTurn),
  ];
  for (const line of lines) say(line);
  return {
    machine,
    turns,
    events: { bare: bare.events, held: held.events, quick: quick.events },
    segments: {
      bare: bare.segments.length,
      held: held.segments.length,
      quick: quick.segments.length,
    },
    msPerThousandEvents,
    longestSegmentMs,
    msPerTurn,
    quickMsPerTurn,
    quickBesideLocalMsPerTurn,
  };
}

interface ReplayOptionsOf extends ReplayWorkerOptions {
  readonly worker: typeof Worker;
}

interface Chain {
  readonly name: string;
  readonly options: ReplayOptionsOf;
  readonly warm: History;
  readonly segments: readonly History[];
  readonly events: number;
}

/** Runs one long and one short run of each side, and keeps their histories. */
async function record({ environment, turns, say }: ReplayOptions) {
  const server = await startBenchServer(environment);
  const machine = await machineFacts(server.address);
  const model = await startBenchModel(turnScript(SIZES));
  const bare = await bareSide({ server, model }, 'delta');
  const local = await bareSide({ server, model, localTool: true }, 'delta');
  const held = await heldSide({ server, model });
  try {
    const bareOptions = { worker: Worker, workflowBundle: await bareBundle() };
    const heldOptions = {
      worker: HoldfastReplayer,
      workflowBundle: await workflowBundle(),
      dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
    };
    return {
      machine,
      bare: await chainOf(bare, { name: 'bare-delta', options: bareOptions, turns, say }),
      local: await chainOf(local, { name: 'bare-delta-local', options: bareOptions, turns, say }),
      held: await chainOf(held, { name: 'held', options: heldOptions, turns, say }),
      quick: await chainOf(
        { ...held, ...held.as(QUICK_READER) },
        { name: `held-${QUICK_READER}`, options: heldOptions, turns, say },
      ),
    };
  } finally {
    await Promise.all([bare.stop(), local.stop(), held.stop()]);
    await model.stop();
    await server.stop();
  }
}

interface Recorded {
  readonly name: string;
  readonly options: ReplayOptionsOf;
  readonly turns: number;
  readonly say: (line: string) => void;
}

async function chainOf(side: Side, recorded: Recorded): Promise<Chain> {
  const { name, options, turns, say } = recorded;
  const short = { turns: WARM_TURNS, label: 'warm' };
  const long = { turns, label: 'replay' };
  await side.run(short);
  const took = await side.run(long);
  say(`${name}: ${turns} turns in ${(took / 1_000).toFixed(1)} s`);
  const [warm] = await historiesOf(side.client, idOf(name, short));
  const segments = await historiesOf(side.client, idOf(name, long));
  const events = segments.reduce((sum, history) => sum + (history.events?.length ?? 0), 0);
  return { name, options, warm: warm!, segments, events };
}

async function historiesOf(client: Client, workflowId: string): Promise<readonly History[]> {
  const histories: History[] = [];
  for (const runId of await executionsOf(client, workflowId)) {
    histories.push(await client.workflow.getHandle(workflowId, runId).fetchHistory());
  }
  return histories;
}

function longestOf(histories: readonly History[]): History {
  return histories.reduce((a, b) => ((b.events?.length ?? 0) > (a.events?.length ?? 0) ? b : a));
}

/** Time from the end of a short history, when the worker is warm, to the end of the last one; ms. */
async function replayed(chain: Chain, histories: readonly History[]): Promise<number> {
  let began = 0;
  async function* inOrder() {
    yield {
      workflowId: idOf(chain.name, { turns: WARM_TURNS, label: 'warm' }),
      history: chain.warm,
    };
    for (const [index, history] of histories.entries()) {
      yield { workflowId: `${chain.name}-${index}`, history };
    }
  }
  const { worker, ...options } = chain.options;
  for await (const { error } of worker.runReplayHistories(options, inOrder())) {
    if (error !== undefined) throw error;
    if (began === 0) began = performance.now();
  }
  return performance.now() - began;
}
