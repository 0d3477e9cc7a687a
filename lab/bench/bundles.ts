/**
 * Bundles of runs at growing lengths: what their export, replay and inspection take, each in a process of its own. Flat
 * means that the peak of memory does not grow with the run.
 */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figuresOf, PACKED_RATIO_MAX, type BundleFigures } from './bundle-figures.js';
import { FLAT_BY, heapBehind, smallestHeap, takenBy, type Taken } from './command-process.js';
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
  /** Those that are measured; absent: all. An export, plain and packed, is always made. */
  readonly commands?: readonly string[];
}

export const COMMANDS = [
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
type Of<T> = Readonly<Partial<Record<Command, T>>>;

interface BundlesRow {
  readonly turns: number;
  readonly bytes: number;
  readonly packedBytes: number;
  readonly figures: BundleFigures;
  /** Medians of the rounds. */
  readonly taken: Of<Taken>;
  /** MB, with which the command works: of the shortest run the least, of longer ones by steps from there. */
  readonly heaps?: Of<number>;
}

export interface BundlesReport {
  readonly machine: MachineFacts;
  readonly sizes: string;
  readonly rounds: number;
  readonly rows: readonly BundlesRow[];
  /** Peak of the longest run by that of the shortest. */
  readonly ratios: Of<number>;
  /** Heap of the longest run by that of the shortest, at most. */
  readonly heapRatios: Of<number>;
  readonly flat: boolean;
  /** Every packed bundle is at most PACKED_RATIO_MAX of what it holds. */
  readonly small: boolean;
}

/** Hides one text that every turn has. */
const RULES = JSON.stringify({ rules: [{ name: 'goal', regex: GOAL }] });

export const EXPORT_RATIO_MAX = 1.5;
const FLAT: readonly Command[] = ['export', 'export packed'];

export async function benchBundles(options: BundlesOptions): Promise<BundlesReport> {
  const { lengths, sizes, rounds, heaps = false, commands: chosen = COMMANDS, say } = options;
  const commands = COMMANDS.filter((one) => FLAT.includes(one) || chosen.includes(one));
  const place = await openPlace({ ...options, script: turnScript(sizes) });
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-bundles-'));
  try {
    const worker = await place.spawn('held');
    for (const turns of lengths) await run(place, turns);
    // What is measured has the machine to itself.
    await worker.kill();
    const rows: BundlesRow[] = [];
    for (const turns of lengths) {
      const measuring = { place, folder, turns, rounds, heaps, commands, say };
      rows.push(await rowOf(measuring, rows.at(0)));
    }
    const ratios = ratiosOf(rows, ({ taken }, command) => taken[command]?.rssMb);
    const heapRatios = ratiosOf(rows, (row, command) => row.heaps?.[command]);
    const flat = FLAT.every((command) => ratios[command]! <= EXPORT_RATIO_MAX);
    const small = rows.every(({ figures }) => figures.packedRatio <= PACKED_RATIO_MAX);
    for (const command of commands) {
      const heap = heapRatios[command];
      const words =
        heap === undefined ? '' : `, heap at most ${heap.toFixed(2)} (${FLAT_BY}: flat)`;
      say(`${command}: peak ratio ${ratios[command]!.toFixed(2)}${words}`);
    }
    const { machine } = place;
    return { machine, sizes: sizes.source, rounds, rows, ratios, heapRatios, flat, small };
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
  readonly commands: readonly Command[];
  readonly say: (line: string) => void;
}

interface Lines {
  readonly plain: string;
  readonly packed: string;
  readonly argv: Of<readonly string[]>;
  readonly written: Of<string>;
}

/** The commands of a run, and the files that they write. */
async function linesFor({ place, folder, turns }: Measuring): Promise<Lines> {
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
  const argv: Lines['argv'] = {
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
  const written = { export: plain, 'export packed': packed, 'export redacted': hidden };
  return { plain, packed, argv, written };
}

/** Each figure is said when it is known: the last ones take long. `first`: the row of the shortest run. */
async function rowOf(measuring: Measuring, first: BundlesRow | undefined): Promise<BundlesRow> {
  const { folder, turns, rounds, heaps, commands, say } = measuring;
  const { plain, packed, argv, written } = await linesFor(measuring);
  say(`${turns} turns`);
  const taken: Partial<Record<Command, Taken>> = {};
  const smallest: Partial<Record<Command, number>> = {};
  for (const command of commands) {
    const all: Taken[] = [];
    const writes = written[command];
    const line = { folder, argv: argv[command]!, ...(writes !== undefined && { writes }) };
    // The last try of a search may fail, and leaves no file to the commands that come behind.
    const shorter = first?.heaps?.[command];
    if (heaps) {
      smallest[command] = await (shorter === undefined
        ? smallestHeap(line)
        : heapBehind(line, shorter));
    }
    for (let round = 0; round < rounds; round += 1) all.push(await takenBy(line));
    const one = (name: keyof Taken) => median(all.map((each) => each[name]));
    const found = { ms: one('ms'), cpuMs: one('cpuMs'), rssMb: one('rssMb') };
    taken[command] = found;
    say(commandLine(command, found, smallest[command]));
  }
  const { size: bytes } = await stat(plain);
  const { size: packedBytes } = await stat(packed);
  const figures = await figuresOf(plain, packedBytes);
  for (const line of figureLines({ bytes, packedBytes, figures })) say(line);
  return { turns, bytes, packedBytes, figures, taken, ...(heaps && { heaps: smallest }) };
}

function ratiosOf(
  rows: readonly BundlesRow[],
  figure: (row: BundlesRow, command: Command) => number | undefined,
): Of<number> {
  const ratios = COMMANDS.flatMap((command) => {
    const [first, last] = [figure(rows[0]!, command), figure(rows.at(-1)!, command)];
    return first === undefined || last === undefined ? [] : [[command, last / first] as const];
  });
  return Object.fromEntries(ratios);
}

function commandLine(command: Command, { ms, cpuMs, rssMb }: Taken, heapMb?: number): string {
  const [wall, cpu] = [ms, cpuMs].map((one) => (one / 1_000).toFixed(2));
  const heap = heapMb === undefined ? '' : `, works with a heap of ${heapMb} MB`;
  return `  ${command}: ${wall} s, ${cpu} s of processor, peak ${rssMb.toFixed(0)} MB${heap}`;
}

function figureLines({
  bytes,
  packedBytes,
  figures: { packedRatio, parseCpuMs, steps, step },
}: Pick<BundlesRow, 'bytes' | 'packedBytes' | 'figures'>): readonly string[] {
  const [cpu, wall, slow] = [step.cpuMs, step.ms, step.slowMs].map((one) => one.toFixed(0));
  return [
    `  ${bytes} bytes, ${packedBytes} packed: ${packedRatio.toFixed(2)} of its content by gzip -9`,
    `  JSON.parse of it alone: ${(parseCpuMs / 1_000).toFixed(2)} s of processor`,
    `  one of ${steps} steps: ${cpu} ms of processor, ${wall} ms, 95 of 100 at most ${slow} ms`,
  ];
}
