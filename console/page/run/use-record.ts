/** The events of a run as they happen. */
import { pathOf } from '../data/api.js';
import { useEvents } from '../data/use-events.js';
import { RunRecord } from './run-record.js';

/** From the event `from` on. `ended` is called when an event says that the run has ended. The record is filled in place. */
export function useRecord(runId: string, from: number, ended: () => void): RunRecord {
  return useEvents({
    path: `${pathOf('runs', runId, 'stream')}?since=${from}`,
    make: () => new RunRecord(),
    noun: 'run',
    told: ({ type }) => {
      if (type === 'run_result') ended();
    },
  });
}
