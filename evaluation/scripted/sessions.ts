/**
 * Sessions of a case: what the store holds before its start, which of them the start asks for, and what has
 * become of them.
 * Invariant: a case that names sessions has a store to itself: their names are its own.
 */
import { wantedSession, type SessionRequest } from '../../client/runs/choose-session.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Json } from '../../core/json/json.js';
import type { SessionStart } from '../../core/state/session.js';
import type { StateValue } from '../../core/state/dataflow.js';
import type { StoredBlock, TranscriptNode } from '../../core/state/transcript.js';
import type { Store } from '../../store/store.js';
import type { Observation } from '../engine.js';
import type { CaseSession, Fixture, ScriptedResult, SessionMessage } from '../fixture.js';
import { AGENT } from './config.js';
import { transcriptAt, type ReadStore } from './observe.js';
import { wholeReply } from './replies.js';

const TENANT = 'default';
/** Where everybody in a case works. */
const CWD = '/case';
const SESSIONS_MAX = 1_000;

export function namesSessions({ sessions, task }: Fixture): boolean {
  const named = task.sessionId ?? task.resume ?? task.continue;
  return sessions.length > 0 || named !== undefined;
}

function usesSessions(fixture: Fixture): boolean {
  return namesSessions(fixture) || fixture.settings.persistSession !== undefined;
}

/** What the start says of its session, as the client takes it. */
export function sessionRequest(fixture: Fixture): Omit<SessionRequest, 'task'> {
  if (!usesSessions(fixture)) return {};
  const { sessionId, resume, continue: latest } = fixture.task;
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(resume !== undefined && { resume }),
    ...(latest !== undefined && { continue: latest }),
    cwd: CWD,
  };
}

/** The same as the run gets it. Errors: those of the client. */
export function sessionOf(store: Store, fixture: Fixture): Promise<SessionStart | undefined> {
  const { goal, caller } = fixture.task;
  const task = { goal, ...(caller !== undefined && { caller }) };
  return wantedSession(store, TENANT, { ...sessionRequest(fixture), task });
}

/** Writes the sessions as runs before this one would have left them, the last one as the newest. */
export async function seedSessions(store: Store, { sessions, task }: Fixture): Promise<void> {
  for (const [index, session] of sessions.entries()) {
    const root = await store.putNode(TENANT, ROOT);
    let head = root;
    for (const [n, message] of session.messages.entries()) {
      const messageId = `${session.id}:m${n}`;
      head = await store.putNode(TENANT, { v: 1, parent: head, messageId, ...contentOf(message) });
    }
    await store.saveSession({
      tenant: TENANT,
      sessionId: session.id,
      base: 0,
      head,
      runId: `earlier:${session.id}`,
      agent: AGENT,
      caller: task.caller ?? '',
      cwd: CWD,
      title: '',
      carry: {
        v: 1,
        taskId: `earlier:${session.id}`,
        step: 0,
        reactiveAttempts: session.reactiveCompacted ? 1 : 0,
        state: stateOf(session),
      },
      at: index + 1,
    });
  }
}

/** The agent has changed since: its prompt is not the one that the session was begun with. */
const ROOT: TranscriptNode = {
  v: 1,
  parent: null,
  role: 'root',
  messageId: 'root',
  blocks: [{ type: 'text', text: 'Handle cases.' }],
  tools: [],
};

function contentOf(message: SessionMessage): Pick<TranscriptNode, 'role' | 'blocks'> {
  switch (message.kind) {
    case 'user':
      return { role: 'user', blocks: [{ type: 'text', text: message.text }] };
    case 'assistant': {
      const place = { model: 'earlier', usedIds: new Set<string>(), runHosted: () => undefined };
      const { blocks } = wholeReply(message.reply, place);
      return { role: 'assistant', blocks: blocks as readonly StoredBlock[] };
    }
    case 'results':
      return {
        role: 'user',
        blocks: [...message.results].map(([id, result]) => ({
          type: 'tool_result',
          id,
          ...resultOf(result),
        })),
      };
  }
}

function resultOf(result: ScriptedResult): { readonly isError: boolean; readonly text: string } {
  switch (result.kind) {
    case 'ok':
      return { isError: false, text: textOf(result.value) };
    case 'error':
      return { isError: true, text: result.message };
    case 'retryable_error':
      return { isError: true, text: result.reason };
    default:
      return { isError: true, text: result.kind };
  }
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function stateOf({ state = {} }: CaseSession): { readonly [path: string]: StateValue } {
  const entries = Object.entries(state).map(([path, value]): [string, StateValue] => [
    path.replace(/^state\./, ''),
    { text: textOf(value), ...(typeof value !== 'string' && { json: true as const }) },
  ]);
  return Object.fromEntries(entries);
}

/** How often sessions were stored since the start, and the letters of the conversation that was resumed. */
export async function sessionEvidence(
  store: Pick<Store, 'listSessions'> & ReadStore,
  fixture: Fixture,
  events: readonly RunEvent[],
): Promise<Pick<Observation, 'persisted' | 'resumedWith'>> {
  if (!usesSessions(fixture)) return { persisted: 0, resumedWith: [] };
  const [first] = events;
  const stored = await store.listSessions(TENANT, { limit: SESSIONS_MAX });
  const own = stored.filter(({ runId }) => runId === first?.stamp.runId);
  const head = first?.type === 'session_init' ? first.resumed?.head : undefined;
  const messages = await transcriptAt(store, TENANT, head ?? null);
  return {
    persisted: own.length,
    resumedWith: messages.map(({ letter }) => letter),
  };
}
