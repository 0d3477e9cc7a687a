/**
 * Readers that wait, and what wakes them: writers in this process at once, those of others by way of the
 * database's feed.
 */
import type { Change, ChangeWatch, RunName } from './changes.js';
import type { OpenDatabase } from './database.js';
import { liveStreams, type LiveStreams } from './live-streams.js';
import { busOf, streamBus, type StreamBus } from './stream-bus.js';
import { streamOutbox, type StreamOutbox } from './stream-outbox.js';
import { streams } from './streams.js';

export type { LiveStreams } from './live-streams.js';

export interface AppendedEvents {
  /** Events of the run are in the store. */
  announce(run: RunName): void;
  watch(run: RunName): ChangeWatch;
}

export interface Live {
  readonly live: LiveStreams;
  readonly events: AppendedEvents;
  end(): Promise<void>;
}

export function liveOn(database: OpenDatabase): Live {
  const streamed = busFor(database, 'stream');
  const appended = busFor(database, 'events');
  const feed = database.feed({
    wanted: (kind) =>
      (kind !== 'events' && streamed.watched()) || (kind !== 'stream' && appended.watched()),
    wantsChunks: streamed.awaitsOthers,
    written(chunks) {
      for (const chunk of chunks) streamed.pass(chunk);
    },
    changed(change) {
      // Readers of events look by themselves soon enough: they are not woken by whatever may have changed.
      if (change === undefined) streamed.wakeAll();
      else (change.kind === 'events' ? appended : streamed).wake(change);
    },
  });
  const outbox = outboxOn(database);
  const live = liveStreams({
    bus: streamed,
    outbox,
    listen: feed.start,
    tell: ({ tenant, runId }) => database.tell({ kind: 'stream', tenant, runId }),
  });
  return {
    live,
    events: {
      announce({ tenant, runId }) {
        appended.wake({ tenant, runId });
        database.tell({ kind: 'events', tenant, runId });
      },
      watch(run) {
        const { wait, stop } = appended.watch(run);
        feed.start();
        return { wait, stop };
      },
    },
    async end() {
      outbox.close();
      await feed.stop();
    },
  };
}

function busFor({ identity }: OpenDatabase, kind: Change['kind']): StreamBus {
  return identity === undefined ? streamBus() : busOf(`${kind} ${identity}`);
}

/** On a side of its own, opened by the first token. */
function outboxOn(database: OpenDatabase): StreamOutbox {
  let side: ReturnType<OpenDatabase['openSide']> | undefined;
  const outbox = streamOutbox(async (batches) => {
    side ??= database.openSide();
    const refused = await streams(side.db).appendStreams(batches);
    for (const { tenant, runId } of batches) database.tell({ kind: 'stream', tenant, runId });
    return refused;
  });
  return {
    ...outbox,
    close() {
      outbox.close();
      void side?.close();
    },
  };
}
