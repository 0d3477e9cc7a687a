/** What a run waits for that is neither a person nor its own work: a worker, the store, its conversation. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { announce } from '../data/announced.js';
import { ApiProblem, get, pathOf } from '../data/api.js';
import type { Wait } from '../data/api-types.js';
import { now } from '../data/connection.js';
import { usePoll } from '../data/use-poll.js';
import { dateTime, plural, relative } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';

const LOOK_MS = 6_000;
const SHOWN_MAX = 5;

/** It asks by itself, because it is told also while the store, and with it the rest of the run, is away. */
export function Waits({ runId }: { readonly runId: string }): VNode {
  const [waits, setWaits] = useState<readonly Wait[]>([]);
  const seen = useRef({ first: '', isForgotten: false });
  usePoll(
    async (signal) => {
      if (seen.current.isForgotten) return;
      const found = await waitsNow(runId, signal).catch((error: unknown) => {
        // The server has forgotten the run: asking again would be noted as the attempt of a stranger.
        if (error instanceof ApiProblem && error.status === 404) seen.current.isForgotten = true;
        throw error;
      });
      setWaits(found);
      const first = found[0]?.for ?? '';
      if (first !== seen.current.first && first !== '') announce(`The run waits for ${first}.`);
      seen.current.first = first;
    },
    { everyMs: LOOK_MS, name: runId },
  );
  const hidden = waits.length - SHOWN_MAX;
  return (
    <div class="notices waits">
      {waits.slice(0, SHOWN_MAX).map((wait) => (
        <WaitLine key={`${wait.for} ${wait.since}`} wait={wait} />
      ))}
      {hidden > 0 && <p class="help">{`and ${hidden} more waits`}</p>}
    </div>
  );
}

async function waitsNow(runId: string, signal: AbortSignal): Promise<readonly Wait[]> {
  const path = pathOf('runs', runId, 'waits');
  return (await get<{ readonly waits: readonly Wait[] }>(path, signal)).waits;
}

function WaitLine({ wait }: { readonly wait: Wait }): VNode {
  const { for: what, since, activity, attempts, message } = wait;
  return (
    <p class="notice waiting">
      {'The run waits for '}
      <b>
        <InertLine text={what} max={160} />
      </b>
      {` since ${dateTime(since)} (${relative(since, now())})`}
      {activity !== undefined && (
        <>
          , for <InertLine text={activity} max={128} />
        </>
      )}
      {attempts > 0 && `, tried ${plural(attempts, 'time')}`}
      {message !== undefined && (
        <>
          : <InertLine text={message} max={300} />
        </>
      )}
    </p>
  );
}
