/** A connection with what all calls over it share. Every call is bounded in time. */
import type { Client, Connection } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import type { LiveStreams } from '../store/live-streams.js';
import type { Store } from '../store/store.js';
import type { Credentials } from '../connection/index.js';
import type { DeskSigner } from './decide/desk-signer.js';
import { serverFailure } from './server-failure.js';
import { HoldfastError } from '../core/state/errors.js';

/** What the client reads from the store; it writes files that are attached, and which run of a conversation begins. */
export type ReadingStore = Pick<
  Store,
  | 'readEvents'
  | 'listRuns'
  | 'getRun'
  | 'listAsks'
  | 'getAsk'
  | 'openedSeq'
  | 'getText'
  | 'getBlob'
  | 'listChildren'
  | 'routeCosts'
  | 'attemptedCost'
  | 'listGoals'
  | 'getSession'
  | 'latestSession'
  | 'listSessions'
  | 'openRunsOf'
  | 'lastSessionBelow'
  | 'messagesNamed'
  | 'lastMessageOf'
  | 'messagesHeardBy'
  | 'asksOpenAt'
  | 'placeInStream'
  | 'readChain'
  | 'restoreArguments'
  | 'readStream'
  | 'watchEvents'
  | 'deskKeys'
  | 'listDeskKeys'
  | 'identity'
  | 'listServed'
  | 'olderWorkers'
  | 'needsOf'
> &
  Partial<Pick<Store, 'putBlob' | 'takeRequest' | 'requestsBelow' | 'markRequest'>> & {
    readonly live: Pick<LiveStreams, 'watch'>;
  };

export interface Link extends Credentials {
  readonly connection: Connection;
  readonly temporal: Client;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly tenant: string;
  readonly store: ReadingStore | undefined;
  /** Signs decisions; without one they carry no proof. */
  readonly signer?: DeskSigner;
  /** Of the workers; absent: none. */
  readonly payloadCodecs?: readonly PayloadCodec[];
  /** Longest wait for an answer that a worker must give, in ms; absent: WORKER_LIMIT_MS. */
  readonly workerLimitMs?: number;
  /** Whether its client has been closed; absent: nobody closes it. */
  readonly isClosed?: () => boolean;
  /** What is called belongs to something that was sent before. */
  readonly isUnderWay?: boolean;
}

/** Longest wait for an answer of the server alone, in ms. */
const SERVER_LIMIT_MS = 10_000;
const WORKER_LIMIT_MS = 5_000;
/** Longest wait for a run or goal that was started to be open, in ms. */
const OPEN_LIMIT_MS = 30_000;

/** Longest wait for an answer that a worker must give, in ms. */
export const workerLimitOf = ({ workerLimitMs = WORKER_LIMIT_MS }: Link): number => workerLimitMs;

/** Opening is an answer of a worker too: who waits longer for those waits longer for this. */
export const openLimitOf = (link: Link): number => Math.max(OPEN_LIMIT_MS, workerLimitOf(link));

export interface Bound {
  /** Default SERVER_LIMIT_MS. */
  readonly limitMs?: number;
  /** The run that the call is about. */
  readonly runId?: string;
  /** The answer must come from a worker. */
  readonly needsWorker?: boolean;
}

/** One call, or several, with one deadline; what fails leaves as a HoldfastError. */
export async function bounded<T>(link: Link, bound: Bound, work: () => Promise<T>): Promise<T> {
  const limitMs = bound.limitMs ?? SERVER_LIMIT_MS;
  const isUnderWay = link.isUnderWay === true || link.isClosed?.() === false;
  try {
    return await link.connection.withDeadline(Date.now() + limitMs, work);
  } catch (error) {
    throw serverFailure(error, { ...link, ...bound, limitMs, isUnderWay });
  }
}

/** The store of a client. Errors: StoreUnavailable when it has none. */
export function storeOf({ store }: Pick<Link, 'store'>): ReadingStore {
  if (store !== undefined) return store;
  throw new HoldfastError('StoreUnavailable', 'There is no store to read conversations from.', {
    hint: 'Connect with the store of your workers (HOLDFAST_STORE).',
  });
}
