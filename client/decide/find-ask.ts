/** An ask by its id, from the store or, when it is not there yet, from the run itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { AskRow } from '../../store/asks.js';
import { executionOf, ownExecution } from '../runs/execution.js';
import type { Link } from '../link.js';
import { timeText } from './rejected.js';
import { isRunId } from '../runs/run-id.js';
import { readQuestion } from '../runs/state.js';
import { STORE_AWAY, unlessStoreAway, whyAway } from '../store-away.js';

/** A question, and the run that has asked it. */
export interface FoundAsk {
  readonly tenant: string;
  readonly runId: string;
  readonly ask: AskView;
  /** What the store knows of its end; 'pending' when only the run knows it. */
  readonly outcome: AskRow['outcome'];
  /** Who decided, as the store knows it; absent where the run itself told of the question. */
  readonly by?: readonly string[];
  /** The store could not be reached, and the run itself told it. */
  readonly storeAway?: true;
}

const ASK_ID_CHARS_MAX = 400;
const PREFIXES_MAX = 8;

/** Errors: AskNotFound; StoreUnavailable while the store is away. */
export async function findAsk(link: Link, askId: string): Promise<FoundAsk> {
  if (askId.trim() === '' || askId.length > ASK_ID_CHARS_MAX) throw unknownAsk(askId);
  const row = await rowOf(link, askId);
  if (row === STORE_AWAY) throw runNotNamed(link, askId);
  if (row !== undefined) return fromRow(row);
  const runId = await runOf(link, askId);
  if (runId === undefined) throw unknownAsk(askId);
  return askOfRun(link, runId, askId);
}

/**
 * An ask of a known run; while the store is away only one that the run still holds. Errors: AskNotFound, RunNotFound;
 * DecisionRejected for one that closed before.
 */
export async function askOfRun(link: Link, runId: string, askId: string): Promise<FoundAsk> {
  const row = await rowOf(link, askId);
  if (row !== STORE_AWAY && row?.runId === runId) return fromRow(row);
  // The store says whose a run is; without it Temporal does.
  if (row === STORE_AWAY) await ownExecution(link, runId, 'brief');
  const asked = await readQuestion(link, runId, askId);
  if (asked === null) throw unknownAsk(askId);
  const { outcome, ask } = asked;
  if (ask === undefined) throw closedBefore({ runId, askId }, outcome);
  const away = row === STORE_AWAY && { storeAway: true as const };
  return { tenant: link.tenant, runId, ask, outcome, ...away };
}

/** A run says that a question is closed before it has written down by whom. */
const ROW_LIMIT_MS = 2_000;
const ROW_POLL_MS = 100;

/**
 * How a question ended, by whom and when, as the store has it; nothing of an open one. `isClosed`: its run says so, and
 * the store will.
 */
export async function closedWords(
  link: Link,
  { ask, outcome }: FoundAsk,
  isClosed: boolean,
): Promise<string> {
  const deadline = performance.now() + (isClosed ? ROW_LIMIT_MS : 0);
  for (;;) {
    const row = await rowOf(link, ask.askId);
    const known = row === STORE_AWAY || row === undefined ? { outcome, by: [] } : row;
    if (known.outcome !== 'pending') return ` The question is ${wordsOf(known)}.`;
    if (known !== row || performance.now() > deadline) return '';
    await sleep(ROW_POLL_MS);
  }
}

function wordsOf({
  outcome,
  by,
  resolvedAt,
}: Pick<AskRow, 'outcome' | 'by' | 'resolvedAt'>): string {
  const who = by.length === 0 ? '' : ` by ${by.join(', ')}`;
  // When the run counted it: whoever said it, said it before.
  const what = by.length === 0 ? '' : 'counted ';
  const when = resolvedAt === undefined ? '' : ` (${what}${timeText(resolvedAt)})`;
  return `${outcome}${who}${when}`;
}

function closedBefore(
  { runId, askId }: { readonly runId: string; readonly askId: string },
  outcome: string,
): HoldfastError {
  return new HoldfastError('DecisionRejected', `The question is ${outcome}.`, {
    hint: `See what the run did with \`holdfast show ${runId}\`.`,
    details: { reason: 'already_decided', askId },
  });
}

async function rowOf({ store, tenant }: Link, askId: string) {
  if (store === undefined) return undefined;
  return unlessStoreAway(store, (calls) => calls.getAsk(tenant, askId));
}

/** Ask ids begin with the run id and a colon; run ids may contain colons too, so the longest fits first. */
async function runOf(link: Link, askId: string): Promise<string | undefined> {
  for (const runId of runIdPrefixes(askId)) {
    try {
      return (await executionOf(link, runId, 'brief')).runId;
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== 'RunNotFound') throw error;
    }
  }
  return undefined;
}

/** What may be the run id of an ask id, longest first. */
export function runIdPrefixes(askId: string): readonly string[] {
  const parts = askId.split(':');
  return parts
    .map((_, index) => parts.slice(0, index).join(':'))
    .filter(isRunId)
    .reverse()
    .slice(0, PREFIXES_MAX);
}

function fromRow(row: AskRow): FoundAsk {
  const { tenant, runId, outcome, by, reason: _reason, resolvedAt: _resolvedAt, ...known } = row;
  const { root: _root, agentPath: _agentPath, ...ask } = known;
  return { tenant, runId, outcome, by, ask };
}

/** Which run a question belongs to the store knows; what an id looks like proves nothing. */
function runNotNamed({ store }: Link, askId: string): HoldfastError {
  const [likely] = runIdPrefixes(askId);
  // A store that is there, and newer than this program, says so.
  const why = store && whyAway(store);
  return new HoldfastError(
    'StoreUnavailable',
    `${why?.message ?? 'The store cannot be reached.'} Only the store knows a question by its id alone.`,
    {
      hint: `${why?.hint ?? ''} Name the run of the question as well, with --run (here probably ${likely ?? 'what its id begins with'}), or runId over the API.`.trim(),
      details: { askId: askId.slice(0, ASK_ID_CHARS_MAX) },
    },
  );
}

function unknownAsk(askId: string): HoldfastError {
  return new HoldfastError('AskNotFound', `There is no question ${askId.slice(0, 200)}.`, {
    hint: 'List what waits for a person with `holdfast approvals`.',
    details: { askId: askId.slice(0, ASK_ID_CHARS_MAX) },
  });
}
