/**
 * What became of an answer to a clarifying question. It travels as a signal, so nobody says at once whether it counts:
 * the run's own record of the question does.
 */
import type { Json } from '../../core/json/json.js';
import type { AskRow } from '../../store/asks.js';
import type { Delivery } from './deliver.js';
import { STORE_AWAY, unlessStoreAway } from '../store-away.js';
import type { Link, ReadingStore } from '../link.js';

/** A run that has a worker tells it within a part of this. */
const HEARD_MS = 4_000;
const LOOK_MS = 100;
/** The result of the question follows its end at once; between them lies what else the run did in that step. */
const EVENTS_AFTER_MAX = 1_000;

export interface GivenAnswer {
  readonly askId: string;
  readonly by: string;
  readonly value: Json;
}

/** After a signal that nobody has answered in time nobody knows yet. */
export async function heardAnswer(
  { store, tenant }: Pick<Link, 'store' | 'tenant'>,
  runId: string,
  given: GivenAnswer,
): Promise<Delivery> {
  if (store === undefined) return { delivered: 'signal' };
  for (const until = performance.now() + HEARD_MS; performance.now() < until;) {
    const fate = await unlessStoreAway(store, (calls) => fateOf(calls, { tenant, runId }, given));
    if (fate === STORE_AWAY) return { delivered: 'signal', storeAway: true };
    if (fate !== undefined) return fate;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return { delivered: 'signal' };
}

type AnswerStore = Pick<ReadingStore, 'getAsk' | 'openedSeq' | 'readEvents' | 'getText'>;

/** Whether the model reads this answer; undefined: nobody can say, or not yet. */
export async function isAnswerRead(
  store: AnswerStore,
  key: RunKey,
  given: GivenAnswer,
): Promise<boolean | undefined> {
  const row = await store.getAsk(key.tenant, given.askId);
  if (row?.runId !== key.runId || row.outcome === 'pending') return undefined;
  if (row.outcome !== 'answered' || !row.by.includes(given.by)) return false;
  const taken = row.elicitation ? undefined : await takenAnswer(store, row);
  return taken === undefined ? undefined : taken === textOf(given.value);
}

interface RunKey {
  readonly tenant: string;
  readonly runId: string;
}

/** Undefined: the question is open as far as the store knows. */
async function fateOf(
  store: ReadingStore,
  { tenant, runId }: RunKey,
  { askId, by, value }: GivenAnswer,
): Promise<Delivery | undefined> {
  const row = await store.getAsk(tenant, askId);
  if (row?.runId !== runId || row.outcome === 'pending') return undefined;
  const { outcome } = row;
  const isMine = outcome === 'answered' && row.by.includes(by);
  // Somebody may answer twice at a time, and one of the two is what the model reads.
  // An answer to the server of a tool goes to that server: the call has a result of its own.
  const taken = isMine && !row.elicitation ? await takenAnswer(store, row) : undefined;
  const isOther = taken !== undefined && taken !== textOf(value);
  if (isMine && !isOther) return { delivered: 'update', verdict: { accepted: true, outcome } };
  const reason = outcome === 'expired' ? 'late' : 'already_decided';
  const who = row.by.length === 0 ? '' : ` by ${row.by.join(', ').slice(0, 200)}`;
  const other = isOther ? ' with another answer' : '';
  const message = `the question was ${outcome}${who}${other}`;
  return { delivered: 'update', verdict: { accepted: false, reason, message } };
}

/** What the model is given as the answer; undefined: the run has not told it. */
async function takenAnswer(store: AnswerStore, ask: AskRow): Promise<string | undefined> {
  const { tenant, runId, callId } = ask;
  const from = { sinceSeq: await store.openedSeq(ask), limit: EVENTS_AFTER_MAX };
  const { events } = await store.readEvents({ tenant, runId }, from);
  for (const event of events) {
    if (event.type !== 'tool_finished' || event.callId !== callId) continue;
    return store.getText(tenant, event.content);
  }
  return undefined;
}

/** As the run gives an answer to the model. */
function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
