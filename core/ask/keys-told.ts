/** What becomes of decisions that waited for keys: the run knows them now, or they are not there. */
import { withVerdict } from '../step/open-work.js';
import type { FetchKeysOutput } from '../state/effect.js';
import type { KeyWait } from '../state/ask.js';
import type { OpenRun, Run } from '../state/run.js';
import { dropWaiting } from './await-keys.js';
import { judge } from './decide.js';

/** A segment is told the keys at its beginning. */
export function recordWaiting({ unjudged = [], keyWait, ...run }: Run): Run {
  const now = { ticket: undefined, mayWait: false, at: run.now };
  const judged = unjudged.reduce<Run>((next, decision) => judge(next, decision, now).run, run);
  return keyWait === undefined ? judged : judgeAll(judged, keyWait, false);
}

export function keysFetched(run: OpenRun, _: string, { deskKeys }: FetchKeysOutput): OpenRun {
  return keysNotFetched({ ...run, deskKeys });
}

/** A pause has cancelled it: what the run knows counts. In a run that stops no word counts any more. */
export function keysNotFetched(asking: OpenRun): OpenRun {
  if (asking.stopping !== undefined) return dropWaiting(asking, CLOSING);
  const { keyWait, ...run } = asking;
  if (keyWait === undefined) return run;
  const { asked } = keyWait;
  return judgeAll({ ...run, keyWait: { asked, askedAt: run.now, waiting: [] } }, keyWait, true);
}

const CLOSING = { reason: 'run_closing', message: 'the run is ending' } as const;

function judgeAll<R extends Run>(run: R, { waiting }: KeyWait, mayWait: boolean): R {
  return waiting.reduce<R>((next, { decision, ticket, at }) => {
    const { run: judged, verdict } = judge(next, decision, { ticket, mayWait, at });
    const told = verdict === undefined ? judged : withVerdict(judged, ticket, verdict);
    return told as R;
  }, run);
}
