/** A thread that decides the run of a bundle's file while the thread that began it checks the file. */
import { parentPort, workerData } from 'node:worker_threads';
import { lineOf } from '../../recording/fold.js';
import { indexReader, type IndexReader } from '../../recording/index-reader.js';
import { stepPacker } from '../../recording/packed-steps.js';
import { hearUnchecked } from './bundle-file.js';
import type { Decided } from './index-beside.js';

async function decide(file: string): Promise<void> {
  const packer = stepPacker();
  let reader: IndexReader | undefined;
  const textDigest = await hearUnchecked(file, (segment, run) => {
    reader ??= indexReader(run, (moment) => packer.add(lineOf(moment)));
    reader.segment(segment);
  });
  if (reader === undefined) return;
  const { kind, divergences } = reader.end();
  const steps = packer.end();
  const decided: Decided = { textDigest, kind, divergences, steps };
  parentPort?.postMessage(
    decided,
    steps.chunks.map(({ buffer }) => buffer),
  );
}

void decide(workerData as string);
