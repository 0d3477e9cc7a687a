/** What a bundle's file is measured by: its content packed, reading its JSON alone, and looks at single steps. */
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { recordOfBundle } from '../../replay/open-record.js';
import { readBundle } from '../../replay/read-bundle.js';
import { toldMoment } from '../../replay/told-moment.js';
import { median } from './statistics.js';

/** Of a packed bundle, by what it holds. */
export const PACKED_RATIO_MAX = 1.3;
const STEPS = 100;

export interface BundleFigures {
  /** The packed file by `gzip -9` of the canonical JSON of all events, and of each message and text once. */
  readonly packedRatio: number;
  /** Processor time of `JSON.parse` of the file. */
  readonly parseCpuMs: number;
  readonly steps: number;
  /** Of one step, as a desk tells it: processor time, and wall time. */
  readonly step: Readonly<Record<'cpuMs' | 'ms' | 'slowMs', number>>;
}

export async function figuresOf(file: string, packedBytes: number): Promise<BundleFigures> {
  const text = await readFile(file, 'utf8');
  const parsing = process.cpuUsage();
  const content = JSON.parse(text) as { readonly [name: string]: Json };
  const parseCpuMs = cpuMsSince(parsing);
  const held = ['segments', 'events', 'nodes', 'blobs'].map((name) => content[name] ?? null);
  const packed = await promisify<Buffer, object, Buffer>(gzip)(
    Buffer.from(held.map(canonicalJson).join('')),
    { level: 9 },
  );
  return { packedRatio: packedBytes / packed.length, parseCpuMs, ...(await stepsOf(file)) };
}

/** Steps all over the run, each far from the one before, as whoever draws the slider asks for them. */
async function stepsOf(file: string): Promise<Pick<BundleFigures, 'steps' | 'step'>> {
  const record = await recordOfBundle(await readBundle(file));
  const steps = record.fold.steps.length;
  const [cpuMs, ms]: [number[], number[]] = [[], []];
  for (let index = 0; index < STEPS; index += 1) {
    const step = 1 + ((index * 61) % STEPS) * Math.floor(steps / STEPS);
    const [began, used] = [performance.now(), process.cpuUsage()];
    JSON.stringify(await toldMoment(record, step));
    cpuMs.push(cpuMsSince(used));
    ms.push(performance.now() - began);
  }
  const slowMs = ms.toSorted((one, other) => one - other)[Math.floor(STEPS * 0.95)]!;
  return { steps, step: { cpuMs: median(cpuMs), ms: median(ms), slowMs } };
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
