/**
 * Ways of a conversation through its workers, all with the same bytes: restarts, continue-as-new, other processes, and
 * a run that goes on from the middle of another.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { play, replyFrom, type Paused, type Play, type Played } from './play.js';
import type { PartSettings } from './process-entry.js';
import { turnsOf } from './conversation.js';

export type Given = Pick<Play, 'conversation' | 'vendor' | 'baseUrl'>;

export type Way = Omit<Play, keyof Given | 'folder'>;

/** Plays a conversation from its beginning on a store of its own. */
export async function playAlone(given: Given, way: Way = {}): Promise<Played> {
  replyFrom(0);
  if (way.restartEvery === undefined) return play({ ...given, ...way });
  return inFolder((folder) => play({ ...given, ...way, folder }));
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-cache-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The first half in one process, the second in another, which has nothing but the store and the run. */
export async function inTwoProcesses(
  given: Given,
  source: Pick<PartSettings, 'recordings' | 'count'>,
): Promise<readonly string[]> {
  return inFolder(async (folder) => {
    replyFrom(0);
    const { conversation, vendor, baseUrl } = given;
    const part = { ...source, conversation: conversation.id, vendor: vendor.name, baseUrl, folder };
    const until = Math.floor(turnsOf(conversation) / 2);
    const first = await playedPart({ ...part, until });
    const { run, said, sent } = first;
    const from: Paused = { run, said, sent };
    const second = await playedPart({ ...part, from });
    return [...first.bodies, ...second.bodies];
  });
}

async function playedPart(settings: PartSettings): Promise<Played> {
  const type = extname(__filename);
  const child = fork(join(__dirname, `process-entry${type}`), [JSON.stringify(settings)], {
    execArgv: type === '.ts' ? ['--import', 'tsx'] : [],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('a part of a conversation ended early');
  });
  const [played] = (await Promise.race([once(child, 'message'), ended])) as [Played];
  return played;
}
