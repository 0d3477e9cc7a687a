/**
 * One run of a tree, as it is read: what is at hand of it, whether more is on its way, and the sub-agents that it began.
 * Invariant: when its reading is to end, everything that is stored then is still given.
 */
import type { RunEvent } from '../../core/state/event.js';
import { firstOf } from '../first-of.js';
import { followRun, type FollowOptions, type RunMoment } from './follow-run.js';
import type { RunHandle } from './run-handle.js';

type Readable = Pick<RunHandle, 'runId' | 'events' | 'stream'>;

/** Where a run stands below the one that is followed. */
export interface TreeRun {
  readonly runId: string;
  /** Of the run that started it; absent: the run that is followed. */
  readonly above?: string;
  /** The call of that run which it works on. */
  readonly callId?: string;
  /** Generations below the run that is followed. */
  readonly depth: number;
}

export interface TreeOptions {
  readonly handle: (runId: string) => Readable;
  /** `seq` of the last event of a run that was seen; -1: none. Sub-agents whose calls had ended then are left out. */
  readonly seen?: (runId: string) => number;
  /** With the tokens of the models; of the run that is followed from where `own` says. */
  readonly tokens?: {
    readonly own?: Pick<FollowOptions, 'since' | 'after' | 'tokensSince'>;
    /** Sub-agents are read without theirs. */
    readonly ownOnly?: true;
  };
  readonly signal?: AbortSignal;
  /** Ends when everything known now has been given. */
  readonly untilNow?: boolean;
  /** Sub-agents that are read, over all generations; those that begin after as many are left out. Default: all. */
  readonly childrenMax?: number;
}

/** A sub-agent of a run. */
export interface Worker {
  readonly callId: string;
  /** Of the event that told of it first. */
  readonly since: number;
  /** Its call has ended. */
  isOver: boolean;
  /** While it is read. */
  run?: Branch;
}

/** The moments of one run of a tree, one of them at hand. */
export class Branch {
  head: RunMoment | undefined;
  lastSeq = -1;
  readonly below = new Map<string, Worker>();
  /** `seq` of the last event that was seen before; -1: none. */
  seen: number;
  private lastAt = 0;
  private over = false;
  private quiet = false;
  private ending = false;
  private nextSeq = 0;
  private readonly leaving = new AbortController();
  private readonly moments: AsyncGenerator<RunMoment>;
  private coming: Promise<void> | undefined;
  private hush: () => void = () => undefined;
  private readonly hushed = new Promise<void>((resolve) => (this.hush = resolve));

  constructor(
    readonly of: TreeRun,
    private readonly options: TreeOptions,
  ) {
    this.seen = options.seen?.(of.runId) ?? -1;
    this.moments = this.read();
  }

  isOver(): boolean {
    return this.over && this.head === undefined;
  }

  isDrained(): boolean {
    return this.isOver() && [...this.below.values()].every(({ run }) => run?.isDrained() ?? true);
  }

  /** What it has now is on its way here. */
  isLate(): boolean {
    return this.head === undefined && !this.over && (!this.quiet || this.ending);
  }

  headAt(): number {
    return this.head?.kind === 'event' ? this.head.event.stamp.at : this.lastAt;
  }

  take(): RunMoment {
    const { head } = this;
    if (head === undefined) throw new Error('There is nothing to take.');
    this.head = undefined;
    if (head.kind === 'event') this.lastAt = head.event.stamp.at;
    return head;
  }

  /** Resolves when something is here, nothing will come, or it is known that it may be a while. */
  arrival(): Promise<void> {
    if (this.coming === undefined) {
      this.coming = this.fetch();
      this.coming.catch(() => undefined);
    }
    return this.isLate() && !this.ending ? firstOf([this.coming, this.hushed]) : this.coming;
  }

  /** What is stored now is the last that is wanted. */
  end(): void {
    if (this.ending || this.over) return;
    this.ending = true;
    this.leaving.abort();
  }

  endBelow(): void {
    for (const { run } of this.below.values()) run?.end();
  }

  async close(): Promise<void> {
    this.ending = false;
    this.over = true;
    this.head = undefined;
    this.leaving.abort();
    await this.coming?.catch(() => undefined);
    await this.moments.return(undefined);
  }

  private async fetch(): Promise<void> {
    const { done, value } = await this.moments.next();
    this.coming = undefined;
    if (this.over) return;
    if (done === true) this.over = true;
    else this.head = value;
  }

  private async *read(): AsyncGenerator<RunMoment, void, undefined> {
    const { signal } = this.options;
    const run = this.options.handle(this.of.runId);
    for await (const moment of this.live(run)) {
      if (moment.kind === 'event') {
        const { event } = moment;
        if (!this.isOwn(event)) return;
        this.nextSeq = event.stamp.seq + 1;
        yield moment;
        if (event.type === 'run_result') return;
      } else yield moment;
    }
    if (!this.ending) return;
    const rest = { since: this.nextSeq, untilNow: true, ...(signal !== undefined && { signal }) };
    for await (const event of run.events(rest)) {
      if (!this.isOwn(event)) return;
      yield { kind: 'event', event };
    }
  }

  /** A run id that an earlier call has taken is not that of this call's sub-agent. */
  private isOwn(event: RunEvent): boolean {
    const { callId } = this.of;
    if (event.type !== 'session_init' || event.parent === undefined) return true;
    return callId === undefined || event.parent.callId === callId;
  }

  private async *live(run: Readable): AsyncGenerator<RunMoment, void, undefined> {
    const { tokens, signal: left, untilNow = false } = this.options;
    const { depth } = this.of;
    const { signal: ended } = this.leaving;
    const signal = left === undefined ? ended : AbortSignal.any([left, ended]);
    const onQuiet = (): void => {
      this.quiet = true;
      this.hush();
    };
    const following = { signal, untilNow, onQuiet, awaited: depth > 0 };
    const isSilent = tokens === undefined || (depth > 0 && tokens.ownOnly === true);
    if (isSilent || untilNow) {
      for await (const event of run.events({ since: 0, ...following })) {
        yield { kind: 'event', event };
      }
      return;
    }
    // Nobody can read what a run says that is not there yet.
    if (depth > 0) for await (const _ of run.events(following)) break;
    const events: Readable['events'] = (options) => run.events({ ...options, onQuiet });
    const own = depth === 0 ? tokens.own : {};
    yield* followRun({ events, stream: run.stream }, { ...own, signal });
  }
}
