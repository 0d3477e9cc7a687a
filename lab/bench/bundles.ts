/**
 * Bundles of runs at growing lengths: what their export, replay and inspection take, each in a process of its own. Flat
 * means that the peak of memory does not grow with the run.
 */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { smallestHeap, takenBy, type Taken } from './command-process.js';
import type { MachineFacts } from './machine.js';
import type { MessageSizes } from './message-sizes.js';
import { openPlace, queueOf, type Place } from './place.js';
import { GOAL, READER, turnScript, type BenchOptions } from './setting.js';
import { median } from './statistics.js';

export interface BundlesOptions extends BenchOptions {
  readonly lengths: readonly number[];
  readonly sizes: MessageSizes;
  readonly rounds: number;
  /** Look for the smallest heap of each command as well: a peak says how lazy the collector is too. */
  readonly heaps?: boolean;
}

const COMMANDS = [
  'export',
  'export packed',
  'export redacted',
  'replay',
  'replay run',
  'index',
  'moment',
  'diff',
  'fork plan',
] as const;
type Command = (typeof COMMANDS)[number];

interface BundlesRow {
  readonly turns: number;
  readonly bytes: number;
  readonly packedBytes: number;
  /** Medians of the rounds. */
  readonly taken: Readonly<Record<Command, Taken>>;
  /** MB, with which the command works. */
  readonly heaps?: Readonly<Record<Command, number>>;
}

export interface BundlesReport {
  readonly machine: MachineFacts;
  readonly sizes: string;
  readonly rounds: number;
  readonly rows: readonly BundlesRow[];
  /** Peak of the longest run by that of the shortest. */
  readonly ratios: Readonly<Record<Command, number>>;
  readonly flat: boolean;
}

/** Hides one text that every turn has. */
const RULES = JSON.stringify({ rules: [{ name: 'goal', regex: GOAL }] });

export const EXPORT_RATIO_MAX = 1.5;
const FLAT: readonly Command[] = ['export', 'export packed'];

export async function benchBundles(options: BundlesOptions): Promise<BundlesReport> {
  const { lengths, sizes, rounds, heaps = false, say } = options;
  const place = await openPlace({ ...options, script: turnScript(sizes) });
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-bundles-'));
  try {
    const worker = await place.spawn('held');
    for (const turns of lengths) await run(place, turns);
    // What is measured has the machine to itself.
    await worker.kill();
    const rows: BundlesRow[] = [];
    for (const turns of lengths) {
      const row = await rowOf({ place, folder, turns, rounds, heaps });
      rows.push(row);
      for (const line of linesOf(row)) say(line);
    }
    const ratios = ratiosOf(rows);
    const flat = FLAT.every((command) => ratios[command] <= EXPORT_RATIO_MAX);
    for (const command of COMMANDS) say(`${command}: peak ratio ${ratios[command].toFixed(2)}`);
    return { machine: place.machine, sizes: sizes.source, rounds, rows, ratios, flat };
  } finally {
    await place.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const idOf = (turns: number): string => `bundles-t${turns}-1`;

async function run({ holdfast }: Place, turns: number): Promise<void> {
  const task = { goal: GOAL };
  const started = await holdfast.start({ agent: READER, task, runId: idOf(turns), wait: false });
  const { completed, stopReason } = await started.result();
  if (!completed) throw new Error(`the run of ${turns} turns ended with ${stopReason}`);
}

interface Measuring {
  readonly place: Place;
  readonly folder: string;
  readonly turns: number;
  readonly rounds: number;
  readonly heaps: boolean;
}

async function rowOf({ place, folder, turns, rounds, heaps }: Measuring): Promise<BundlesRow> {
  const id = idOf(turns);
  const plain = join(folder, `${id}.json`);
  const packed = `${plain}.gz`;
  const hidden = join(folder, `${id}.hidden.json`);
  const server = ['--address', place.server.address, '--task-queue', queueOf('held')];
  const exported = (file: string) => [
    'export',
    id,
    '-o',
    file,
    ...server,
    '--store',
    place.storePlace,
  ];
  const rules = join(folder, 'rules.json');
  await writeFile(rules, RULES);
  const lines: Readonly<Record<Command, readonly string[]>> = {
    export: exported(plain),
    'export packed': exported(packed),
    'export redacted': [...exported(hidden), '--redact', rules],
    replay: ['replay', plain],
    'replay run': ['replay', id, ...server, '--store', place.storePlace],
    index: ['inspect', plain],
    moment: ['inspect', plain, '--at', 'last'],
    diff: ['diff', plain, plain],
    'fork plan': ['fork', plain, '--at', '50', '--plan'],
  };
  const written: Partial<Record<Command, string>> = {
    export: plain,
    'export packed': packed,
    'export redacted': hidden,
  };
  const taken: Partial<Record<Command, Taken>> = {};
  const smallest: Partial<Record<Command, number>> = {};
  for (const command of COMMANDS) {
    const all: Taken[] = [];
    const writes = written[command];
    const line = { folder, argv: lines[command], ...(writes !== undefined && { writes }) };
    // The last try of a search may fail, and leaves no file to the commands that come behind.
    if (heaps) smallest[command] = await smallestHeap(line);
    for (let round = 0; round < rounds; round += 1) all.push(await takenBy(line));
    const [ms, rssMb] = [all.map((one) => one.ms), all.map((one) => one.rssMb)];
    taken[command] = { ms: median(ms), rssMb: median(rssMb) };
  }
  const { size: bytes } = await stat(plain);
  const { size: packedBytes } = await stat(packed);
  return {
    turns,
    bytes,
    packedBytes,
    taken: taken as BundlesRow['taken'],
    ...(heaps && { heaps: smallest as Record<Command, number> }),
  };
}

function ratiosOf(rows: readonly BundlesRow[]): BundlesReport['ratios'] {
  const [first, last] = [rows[0]!, rows.at(-1)!];
  const ratios = COMMANDS.map((command) => [
    command,
    last.taken[command].rssMb / first.taken[command].rssMb,
  ]);
  return Object.fromEntries(ratios) as BundlesReport['ratios'];
}

function linesOf({ turns, bytes, packedBytes, taken, heaps }: BundlesRow): readonly string[] {
  return [
    `${turns} turns: ${bytes} bytes, ${packedBytes} packed`,
    ...COMMANDS.map(
      (command) =>
        `  ${command}: ${(taken[command].ms / 1_000).toFixed(2)} s, peak ${taken[command].rssMb.toFixed(0)} MB${heaps === undefined ? '' : `, works with a heap of ${heaps[command]} MB`}`,
    ),
  ];
}
