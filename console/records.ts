/**
 * Recorded runs that somebody looks at, folded. The newest few are kept, so that the next step costs no fold.
 * Invariants: one record is opened at a time; what waits, and what one record may hold, is bounded; whose a record is
 * says the tenant of whoever asks, and a kept one is found under its tenant alone.
 */
import type { HoldfastClient } from '../client/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { openRecord, type OpenRecord } from '../replay/open-record.js';
import type { DeskStore } from './desk-store.js';
import { Problem } from './http/problem.js';

export interface RecordWanted {
  readonly tenant: string;
  readonly runId: string;
  /** The run has ended: nothing comes after what is recorded. */
  readonly isOver: boolean;
  /** A record that has this step is new enough, within reason; absent: as the run is now. */
  readonly step?: number;
}

export interface Records {
  /** Errors: a Problem; `HistoryMissing`; `InvalidRequest` for a record that is too large. */
  open(wanted: RecordWanted): Promise<OpenRecord>;
}

const KEPT_MAX = 4;
const KEPT_MS = 600_000;
/** Of a run under way: how old what is shown of it may be. */
const NEW_MS = 3_000;
const WAITING_MAX = 16;
/** Of the JSON of a run's histories. A run of 1,000 turns has 15 MB. */
const RECORD_BYTES_MAX = 48 * 1024 * 1024;

interface Kept {
  readonly name: string;
  readonly isOver: boolean;
  /** ms since epoch. */
  readonly at: number;
  readonly record: OpenRecord;
}

interface Place {
  readonly client: Pick<HoldfastClient, 'forTenant'>;
  readonly store: DeskStore;
  readonly clock: () => number;
}

export function records(place: Place): Records {
  /** The newest last. */
  let kept: readonly Kept[] = [];
  const opening = new Map<string, Promise<OpenRecord>>();
  let last: Promise<unknown> = Promise.resolve();

  const keep = (name: string, isOver: boolean, record: OpenRecord): void => {
    const others = kept.filter((one) => one.name !== name).slice(1 - KEPT_MAX);
    kept = [...others, { name, isOver, at: place.clock(), record }];
  };

  const found = (name: string, { isOver, step }: RecordWanted): OpenRecord | undefined => {
    const now = place.clock();
    kept = kept.filter(({ at }) => now - at < KEPT_MS);
    const one = kept.find((other) => other.name === name);
    if (one === undefined) return undefined;
    const hasStep = step !== undefined && step <= one.record.fold.steps.length;
    const isNew = isOver ? one.isOver : now - one.at < NEW_MS;
    if (!hasStep && !isNew) return undefined;
    kept = [...kept.filter((other) => other !== one), one];
    return one.record;
  };

  return {
    async open(wanted) {
      const { tenant, runId, isOver } = wanted;
      const name = JSON.stringify([tenant, runId]);
      const one = found(name, wanted);
      if (one !== undefined) return one;
      const underWay = opening.get(name);
      if (underWay !== undefined) return underWay;
      if (opening.size >= WAITING_MAX) throw tooMany();
      const next = last
        .then(() => opened(place, tenant, runId))
        .then((record) => {
          keep(name, isOver, record);
          return record;
        })
        .finally(() => opening.delete(name));
      last = next.catch(() => undefined);
      opening.set(name, next);
      return next;
    },
  };
}

async function opened(
  { client, store }: Place,
  tenant: string,
  runId: string,
): Promise<OpenRecord> {
  try {
    const access = await client.forTenant(tenant).historiesOf(runId);
    const place = { ...access, archive: store, bytesMax: RECORD_BYTES_MAX };
    return await openRecord(place, { tenant, runId });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'RunNotFound') throw error;
    // The store knows the run, or nobody would have come here.
    throw new HoldfastError('HistoryMissing', `Temporal has the history of ${runId} no more.`, {
      hint: 'Open a bundle of it with `holdfast inspect FILE --desk`, or look at its events.',
    });
  }
}

function tooMany(): Problem {
  return new Problem(429, {
    code: 'too_many',
    detail: 'Many records are being opened. Wait a little.',
    headers: { 'retry-after': '5' },
  });
}
