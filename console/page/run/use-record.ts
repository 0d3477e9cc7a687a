/** The events of a run as they happen, by a stream that goes on where it broke off. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../data/announced.js';
import { pathOf } from '../data/api.js';
import type { RunEvent } from '../data/api-types.js';
import { follow } from '../data/stream.js';
import { RunRecord } from './run-record.js';

/** However many events come, nothing is drawn more often. */
const DRAW_MS = 100;

/** `ended` is called when an event says that the run has ended. The record is filled in place. */
export function useRecord(runId: string, ended: () => void): RunRecord {
  const record = useRef(new RunRecord());
  const [, setDrawn] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = (): void => {
      timer = undefined;
      setDrawn((count) => count + 1);
    };
    void follow(pathOf('runs', runId, 'stream'), {
      signal,
      entry({ event, data }) {
        if (event === 'reset') {
          record.current.reset((data as { readonly fromSeq: number }).fromSeq);
          announce('The run was reset.');
        }
        if (event === 'event') {
          record.current.take(data as RunEvent);
          if ((data as RunEvent).type === 'run_result') ended();
        }
        timer ??= setTimeout(draw, DRAW_MS);
      },
    });
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [runId]);
  return record.current;
}
