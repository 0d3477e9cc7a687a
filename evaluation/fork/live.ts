/**
 * What a live fork begins with, what the store that it runs on needs before, and its start.
 * Invariant: what is put into the store is added under its own hash, and changes nothing that is there.
 */
import type { Json } from '../../core/json/json.js';
import type { HoldfastClient, RunHandle } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Fork } from '../../core/state/fork.js';
import { recordedCalls, startedOthers, type RecordedCall } from '../../recording/handed-over.js';
import type { Bundle } from '../../replay/bundle.js';
import { gatherReferred } from '../../replay/gather.js';
import { openMemoryStore, type StoreCalls } from '../../store/store.js';
import { preparedFork, type ForkPlace, type ForkTerms, type PreparedFork } from './prepare.js';
import { fillStore } from './record.js';

export interface LiveTerms extends ForkTerms {
  /** `file`: the store may have nothing of the run, so conversation and texts of the bundle are put into it. */
  readonly source: 'run' | 'file';
  /** What runs below it gave to executors; absent: nobody has looked. */
  readonly below?: readonly RecordedCall[] | undefined;
}

type Texts = Pick<Bundle, 'run' | 'nodes' | 'blobs'>;

export interface LiveFork {
  readonly fork: Fork;
  /** What the record gave to executors: the fork asks before it does the same. */
  readonly calls: readonly RecordedCall[];
  /** Conversation and texts that the store needs. */
  readonly texts: readonly Texts[];
}

/** Errors: those of `preparedFork`, `ForkRefused` for a redacted record, and for a run that started others without `below`. */
export async function liveFork(place: ForkPlace, terms: LiveTerms): Promise<LiveFork> {
  const { bundle } = place;
  refuseRedacted(bundle);
  if (terms.below === undefined && startedOthers(bundle.segments)) throw withoutTree();
  const memory = await openMemoryStore();
  try {
    await fillStore(memory, bundle);
    const fork = await preparedFork(memory, place, terms);
    const changed = await gatherReferred(memory, bundle.run.tenant, newTexts(fork));
    return {
      fork,
      calls: [...recordedCalls(bundle.segments), ...(terms.below ?? [])],
      texts: [...(terms.source === 'file' ? [bundle] : []), { run: bundle.run, ...changed }],
    };
  } finally {
    await memory.close();
  }
}

export interface Starting {
  /** Of the fork's tenant. */
  readonly client: Pick<HoldfastClient, 'fork'>;
  readonly store: Pick<StoreCalls, 'putNode' | 'putBlob' | 'putFork' | 'getFork'>;
  /** Of the fork. Default: a new one. */
  readonly runId?: string | undefined;
  /** False: not until the fork is open. */
  readonly wait?: boolean | undefined;
}

/** What the store needs is there before. Errors: those of `client.fork`. */
export async function startLive(
  { fork, calls, texts }: LiveFork,
  { client, ...place }: Starting,
): Promise<RunHandle> {
  for (const one of texts) await fillStore(place.store, one);
  return client.fork({ ...place, fork, calls });
}

/** What the changes have written; the authority is named by its hash alone. */
function newTexts({ frozen, head, results }: PreparedFork): readonly Json[] {
  const { authority } = frozen;
  return [
    frozen as unknown as Json,
    ...(head === undefined ? [] : [{ head }]),
    ...(authority === undefined ? [] : [{ ref: authority }]),
    ...(results === undefined ? [] : [results as unknown as Json]),
  ];
}

function refuseRedacted({ redactions }: Bundle): void {
  if (redactions.length === 0) return;
  throw new HoldfastError('ForkRefused', 'A redacted bundle is forked dry only.', {
    hint: 'Leave out --live, or fork the run itself where its store is.',
  });
}

/** What other runs did for it is in their records: the fork asks before it has that done once more. */
function withoutTree(): HoldfastError {
  return new HoldfastError(
    'ForkRefused',
    'The run started other runs (sub-agents, or one that went on with its task), and this record has nothing of them.',
    {
      hint: 'Export the run with all runs below it (leave out --alone), or fork the run itself where its store is. A dry fork needs neither: leave out --live.',
    },
  );
}
