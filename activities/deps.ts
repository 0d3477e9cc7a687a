/** What the activities work with; wired once by the worker, replaced piece by piece in tests. */
import type { Config } from '../authoring/index.js';
import type { Connectors } from '../connectors/index.js';
import type { CompactInput } from '../core/state/effect.js';
import type { Provider } from '../providers/provider.js';
import type { IsolationFound } from '../sandbox/isolation.js';
import type { QueueName } from '../store/served.js';
import type { Store, StoreCalls } from '../store/store.js';
import type { Timers } from './timers.js';

export interface ActivityDeps {
  readonly store: Store;
  /** By `ModelRoute.provider`. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly config: Config;
  /** Servers of tools; absent: none is reached. */
  readonly connectors?: Connectors;
  /** Where this worker serves, so that it finds what others serve there; absent: nobody else is known. */
  readonly serving?: QueueName & {
    /** Task queue of calls in a sandbox whose tools name none; absent: they stay on this one. */
    readonly sandboxQueue?: string;
  };
  /** What a person at the terminal of the worker should know; default: the log has it. */
  readonly say?: (line: string) => void;
  /** ms since epoch; default: the machine's clock. */
  readonly clock?: () => number;
  /** Default: the machine's. */
  readonly timers?: Timers;
  /** Work of the machine itself, such as reading a folder; default: it is done. For whoever plays the clock. */
  readonly inRealTime?: <T>(work: () => Promise<T>) => Promise<T>;
  /** How long a tool or model may take to notice that it was stopped, in ms; default 10 s. */
  readonly graceMs?: number;
  /** What isolates commands here; default: what is found on this machine. */
  readonly isolation?: IsolationFound;
  /** Rules number that runs are opened with: for recordings of what older rules decide. Default: the newest. */
  readonly rules?: number;
  /**
   * How many tokens a conversation has after a summary, and any conversation can have one. For scripted
   * models, whose tokens are not those of their texts; default: reckoned by its length.
   */
  readonly sizeAfterSummary?: (input: CompactInput) => number;
}

/** The same inside one transaction of the store. */
export type InTransaction = Omit<ActivityDeps, 'store'> & { readonly store: StoreCalls };

const DEFAULT_GRACE_MS = 10_000;

/** How long a tool with this timeout may still answer after it was stopped, in ms. Its claim lasts as long. */
export function graceOf(
  { graceMs = DEFAULT_GRACE_MS }: Pick<ActivityDeps, 'graceMs'>,
  timeoutMs: number,
): number {
  return Math.min(graceMs, timeoutMs);
}

export function now(deps: Pick<ActivityDeps, 'clock'>): number {
  return (deps.clock ?? Date.now)();
}
