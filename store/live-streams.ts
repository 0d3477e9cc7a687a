/**
 * Streams while they come: to readers in this process at once, into the store in a moment, and to readers in
 * other processes when these notice that the store has changed.
 */
import type { StreamBus, StreamWatch } from './stream-bus.js';
import type { StreamOutbox, StreamWriter } from './stream-outbox.js';
import type { StreamBatch, StreamOf } from './changes.js';

export type { StreamWatch } from './stream-bus.js';

export interface LiveStreams {
  /**
   * Passes chunks on and never waits. `full`: there is no room on the way to the store, they are lost to
   * readers elsewhere. `refused`: a newer attempt has begun, this one must say no more.
   */
  send(batch: StreamBatch, chars: number): 'taken' | 'full' | 'refused';
  /** What of an attempt is not in the store, and will not be from here: its last write takes it. */
  unsent(writer: StreamWriter): Promise<readonly StreamBatch[]>;
  /** Tells readers in this process of chunks that are in the store; none: that there may be some. */
  announce(run: StreamOf, batches?: readonly StreamBatch[]): void;
  /** For a reader, who stops it. Whatever changes after this call wakes it. */
  watch(run: StreamOf): StreamWatch;
}

export interface LiveParts {
  readonly bus: StreamBus;
  readonly outbox: StreamOutbox;
  /** Somebody watches: from now on the bus has to be woken when the store changes. */
  readonly listen: () => void;
  /** Lets readers in other processes notice what is in the store. */
  readonly tell: (run: StreamOf) => void;
}

export function liveStreams({ bus, outbox, listen, tell }: LiveParts): LiveStreams {
  return {
    send(batch, chars) {
      const taken = outbox.add(batch, chars);
      if (taken !== 'refused') bus.send(batch);
      return taken;
    },
    unsent: (writer) => outbox.rest(writer),
    announce(run, batches = []) {
      for (const batch of batches) bus.send(batch);
      bus.wake(run);
      tell(run);
    },
    watch(run) {
      const watch = bus.watch(run);
      listen();
      return watch;
    },
  };
}
