/**
 * Which session a start belongs to (G63): "the latest" is looked up here, before the start.
 * Invariants: what contradicts itself is refused; nobody goes on with a session while another run of it is
 * open, as far as that can be known before; the store's compare-and-set decides in the end.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { SessionStart } from '../../core/state/session.js';
import type { SettingsOverrides, Task } from '../../core/state/task.js';
import type { Link, ReadingStore } from '../link.js';
import { openRunsOf } from './open-runs.js';

export interface SessionOptions {
  /** The session that the run belongs to; a new one unless it is resumed. Default: the run's own id. */
  readonly sessionId?: string;
  /** Goes on with the conversation of this session. */
  readonly resume?: string;
  /** Goes on with the caller's latest session at `cwd`. Needs a store. */
  readonly continue?: boolean;
  /**
   * Begins a session of its own with the resumed conversation, or with its messages up to `at`. What was done
   * in them is never done again.
   */
  readonly fork?: boolean | { readonly at: string };
  /** Where the caller works; default: this process's folder, for a run with a session. */
  readonly cwd?: string;
}

/** What of a start matters for its session. */
export type SessionRequest = SessionOptions & {
  readonly task: Task | string;
  readonly settings?: SettingsOverrides;
  readonly persistSession?: boolean;
};

const ID = /^[A-Za-z0-9._:-]{1,128}$/;
const MESSAGE_ID = /^[^\p{C}]{1,300}$/u;
const CWD_CHARS_MAX = 1_024;

/** undefined: the start says nothing of a session. Errors: InvalidTask, SessionNotFound, SessionBusy. */
export async function chooseSession(
  link: Link,
  runId: string,
  request: SessionRequest,
): Promise<SessionStart | undefined> {
  const session = await wantedSession(link.store, link.tenant, request);
  const { resume } = session ?? {};
  if (resume === undefined || link.store === undefined) return session;
  // Under an id of its own it is a fork as well.
  const isFork = session?.fork === true || session?.id !== undefined || session?.at !== undefined;
  if (!isFork) await refuseOpenRuns(link, { runId, sessionId: resume });
  if ((await link.store.getSession(link.tenant, resume)) === undefined) throw notStored(resume);
  return session;
}

/** The same without looking at runs. */
export async function wantedSession(
  store: Pick<ReadingStore, 'latestSession'> | undefined,
  tenant: string,
  request: SessionRequest,
): Promise<SessionStart | undefined> {
  const { sessionId: id, fork = false } = request;
  checkOptions(request);
  const cwd = request.cwd ?? process.cwd().slice(0, CWD_CHARS_MAX);
  const resume = request.continue ? await latest(store, tenant, { request, cwd }) : request.resume;
  const keeps = request.persistSession ?? request.settings?.persistSession;
  const isNamed = id !== undefined || resume !== undefined;
  if (!isNamed && keeps !== true && request.cwd === undefined) return undefined;
  return {
    ...(id !== undefined && id !== resume && { id }),
    ...(resume !== undefined && { resume }),
    ...(typeof fork === 'object' && { at: fork.at }),
    ...(fork === true && { fork }),
    cwd,
  };
}

function checkOptions({ sessionId, resume, continue: latestOne, fork, cwd }: SessionRequest): void {
  for (const [name, id] of Object.entries({ sessionId, resume })) {
    if (id !== undefined && (typeof id !== 'string' || !ID.test(id))) {
      throw invalid(`${name} cannot be used`, 'Use 1 to 128 of the characters A-Z a-z 0-9 . _ : -');
    }
  }
  if (resume !== undefined && latestOne) {
    throw invalid('resume and continue do not go together', 'Give one of them.');
  }
  if (fork && resume === undefined && !latestOne) {
    throw invalid('there is nothing to fork', 'Say with resume which session to fork.');
  }
  if (fork && sessionId !== undefined && sessionId === resume) {
    throw invalid('a fork needs an id of its own', 'Give another sessionId, or none.');
  }
  if (typeof fork === 'object' && !(typeof fork.at === 'string' && MESSAGE_ID.test(fork.at))) {
    throw invalid('fork.at is no id of a message', 'Take one from the transcript.');
  }
  if (cwd !== undefined && (typeof cwd !== 'string' || cwd.length > CWD_CHARS_MAX)) {
    throw invalid('cwd cannot be used', `Give a text of at most ${CWD_CHARS_MAX} characters.`);
  }
}

async function latest(
  store: Pick<ReadingStore, 'latestSession'> | undefined,
  tenant: string,
  { request, cwd }: { readonly request: SessionRequest; readonly cwd: string },
): Promise<string> {
  if (store === undefined) {
    throw new HoldfastError(
      'StoreUnavailable',
      'There is no store to find the latest session in.',
      {
        hint: 'Connect with the store of your workers, or name the session with resume.',
      },
    );
  }
  const { task } = request;
  const caller = typeof task === 'string' ? '' : (task.caller ?? '').normalize('NFC');
  const found = await store.latestSession(tenant, { caller, cwd });
  if (found !== undefined) return found.sessionId;
  throw new HoldfastError('SessionNotFound', 'There is no stored session of this caller here.', {
    hint: 'Start without continue; a run keeps its session with persistSession.',
    details: { cwd },
  });
}

interface Continuing {
  readonly runId: string;
  readonly sessionId: string;
}

/** Two runs that go on with one session would part it. The same start again is no second run. */
async function refuseOpenRuns(link: Link, { runId, sessionId }: Continuing): Promise<void> {
  for (const open of await openRunsOf(link, sessionId)) {
    if (open === runId) continue;
    throw new HoldfastError('SessionBusy', `Run ${open} of session ${sessionId} is still open.`, {
      hint: `Send it a message, wait for it, or fork the session.`,
      details: { sessionId, runId: open },
    });
  }
}

function notStored(sessionId: string): HoldfastError {
  return new HoldfastError('SessionNotFound', `There is no stored session ${sessionId}.`, {
    hint: 'List the sessions with `holdfast sessions`. A run keeps its session with persistSession.',
    details: { sessionId },
  });
}

function invalid(message: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The session of the start: ${message}.`, { hint });
}
