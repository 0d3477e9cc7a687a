/** Makes a worker one that stands still at boundaries and breaks the reports of results, as it is told to. */
import { createInterface } from 'node:readline';
import { createActivities } from '../../activities/index.js';
import type { WorkerSettings } from '../../worker/index.js';
import { outcomeWatch } from './outcome-watch.js';
import { parseCommand, type Command } from './protocol.js';
import { standStill, tell } from './stand-still.js';
import { watchedActivities } from './watched-activities.js';
import { watchedDeps, watchedFetch, type Passage } from './watched-deps.js';
import { watchList, type WatchEntry } from './watch-list.js';

export interface Crashable {
  /** Additions to the settings of the worker. */
  readonly settings: Pick<WorkerSettings, 'activities' | 'payloadCodecs'>;
  /** Sends the requests of its model provider. */
  readonly fetch: typeof fetch;
}

interface FaultEntry extends WatchEntry {
  readonly completion: 'drop' | 'duplicate';
}

const ANY_KIND = '*';

/** Orders come on `commands`, one a line. */
export function crashable(commands: NodeJS.ReadableStream): Crashable {
  const halts = watchList<WatchEntry>();
  const faults = watchList<FaultEntry>();
  createInterface({ input: commands }).on('line', (line) =>
    obey(parseCommand(line), halts, faults),
  );
  const passed: Passage = (boundary, runId) => {
    const due = halts.passed([boundary], runId);
    if (due !== undefined) standStill({ type: 'reached', id: due.id, runId });
  };
  const outcomes = outcomeWatch(passed);
  return {
    fetch: watchedFetch(passed),
    settings: {
      payloadCodecs: [outcomes.codec],
      activities: (deps) =>
        watchedActivities(createActivities(watchedDeps(deps, passed)), {
          passed,
          outcomes,
          faultOf(kind, runId) {
            const due = faults.passed([kind, ANY_KIND], runId);
            if (due !== undefined) tell({ type: 'reached', id: due.id, runId });
            return due?.completion;
          },
        }),
    },
  };
}

function obey(
  command: Command,
  halts: ReturnType<typeof watchList<WatchEntry>>,
  faults: ReturnType<typeof watchList<FaultEntry>>,
): void {
  const { id } = command;
  if (command.type === 'stand_still') {
    const { boundary, runId, nth } = command.point;
    halts.add({ id, what: boundary, runId, nth });
  } else {
    const { completion, of = ANY_KIND, runId, nth } = command.fault;
    faults.add({ id, what: of, runId, nth, completion });
  }
  tell({ type: 'heard', id });
}
