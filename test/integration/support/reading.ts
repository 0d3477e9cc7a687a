/** How the runs of a table of attacks read: as ever, or all the time and by reads that are tried within the tasks that decide. */
import { join } from 'node:path';
import { config as ordinary } from './agents.js';
import type { Replying } from './open-question.js';
import { config as quick } from './quick-desk.js';
import { read, type History } from './world.js';

export interface Reading {
  readonly name: string;
  readonly quickReads: boolean;
  readonly replying: Replying;
  /** For a worker in the process of the test. */
  readonly config: typeof ordinary;
  /** For one of its own. */
  readonly spawned: { readonly configModule?: string };
}

export const AS_EVER: Reading = {
  name: 'that read as ever',
  quickReads: false,
  replying: (replies) => replies,
  config: ordinary,
  spawned: {},
};

/** A read stands before everything else that the model says. */
export const QUICKLY: Reading = {
  name: 'that read within the tasks that decide',
  quickReads: true,
  replying: (replies) =>
    typeof replies === 'function' ? replies : replies.flatMap((reply) => [read(), reply]),
  config: quick,
  spawned: { configModule: join(__dirname, 'quick-desk.ts') },
};

/** Reads that were tried within a task. */
export function quickReadsIn({ events }: History): number {
  return (events ?? []).filter(({ markerRecordedEventAttributes: marker }) => {
    const [tried] = marker?.details?.['data']?.payloads ?? [];
    return tried?.data && Buffer.from(tried.data).includes('"execute_tool"');
  }).length;
}
