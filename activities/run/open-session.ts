/**
 * Loads the session that a run goes on with (G43): its conversation, cut where a fork takes over,
 * mended where it is broken, under the root of this run's own agent.
 * Invariants: a session of another tenant looks like one that is missing; a sound conversation under the same
 * root is not written again; calls and their results stay together; the same store gives the same head.
 */
import type { OpenRunInput } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Frozen } from '../../core/state/frozen.js';
import { contextAtFirst } from '../../core/step/conversation.js';
import { repairHistory, type Message } from '../../pure/session-repair.js';
import type {
  OpenedSession,
  SessionCarry,
  SessionRemark,
  SessionStart,
} from '../../core/state/session.js';
import type { SessionRow } from '../../store/sessions.js';
import type { StoreCalls } from '../../store/store.js';
import type { HashedNode } from '../../store/transcripts.js';
import { bytesOf } from '../model/compact-plan.js';
import { mediaOf } from '../model/node-attachments.js';
import { chainAt, type MessageChain } from '../model/model-request.js';

const REPAIRS_TOLD_MAX = 40;
/** Summaries of a session behind which a message is looked for. */
const SUMMARIES_MAX = 1_000;

export interface OpeningSession {
  readonly session: OpenedSession;
  /** Newest node of the conversation that the run begins with. */
  readonly head: string;
}

/** undefined: the run has no session. Errors: SessionNotFound, SessionExists, InvalidTask. */
export async function openSession(
  store: StoreCalls,
  { run, start }: Required<Pick<OpenRunInput, 'run' | 'start'>>,
  frozen: Pick<Frozen, 'prompt' | 'settings'>,
): Promise<OpeningSession | undefined> {
  const wanted = start.session ?? {};
  const named = wanted.id !== undefined || wanted.resume !== undefined;
  const kept = frozen.settings.persistSession ?? named;
  if (wanted.resume !== undefined) {
    return resume(store, { run, taskId: start.task.taskId, wanted, kept }, frozen);
  }
  if (!kept && !named) return undefined;
  const id = wanted.id ?? run.runId;
  await mustBeNew(store, run, id);
  return { session: { id, base: 0, kept }, head: frozen.prompt.hash };
}

function otherId({ id }: SessionStart, { sessionId }: SessionRow): boolean {
  return id !== undefined && id !== sessionId;
}

/** A run that is reset to its start stores its session a second time. */
async function mustBeNew(store: StoreCalls, run: OpenRunInput['run'], id: string): Promise<void> {
  const there = await store.getSession(run.tenant, id);
  if (there === undefined || (there.runId === run.runId && there.revision === 1)) return;
  throw new HoldfastError('SessionExists', `Session ${id} has a conversation already.`, {
    hint: `Resume it to go on with it, or give another session id.`,
    details: { sessionId: id },
  });
}

interface Resuming {
  readonly run: OpenRunInput['run'];
  readonly taskId: string | undefined;
  readonly wanted: SessionStart;
  readonly kept: boolean;
}

async function resume(
  store: StoreCalls,
  resuming: Resuming,
  { prompt }: Pick<Frozen, 'prompt'>,
): Promise<OpeningSession> {
  const { run, wanted, kept } = resuming;
  const { tenant } = run;
  const row = asBefore(await storedSession(store, tenant, wanted.resume ?? ''), run.runId);
  const isFork = wanted.fork === true || wanted.at !== undefined || otherId(wanted, row);
  const id = isFork ? forkId(resuming, row) : row.sessionId;
  if (isFork) await mustBeNew(store, run, id);
  const newest = await chainAt(store, tenant, row.head);
  const { root, nodes } =
    wanted.at === undefined ? newest : await chainWith(store, { tenant, newest, at: wanted.at });
  const taken = wanted.at === undefined ? nodes : upTo(nodes, wanted.at);
  const { messages, repairs } = repairHistory(taken, (n) => `${run.runId}:r${n}`);
  const same = root.hash === prompt.hash && repairs.length === 0;
  const head = same
    ? (taken.at(-1)?.hash ?? root.hash)
    : await rewritten(store, tenant, { root: prompt.hash, messages });
  const whole = nodes === newest.nodes && taken.length === nodes.length;
  const chain = await chainAt(store, tenant, head);
  const remarks = remarksOn(repairs, { row, whole });
  return {
    head,
    session: {
      id,
      base: isFork ? 0 : row.revision,
      kept,
      resumed: { sessionId: row.sessionId, head, messages: chain.nodes.length },
      carry: carryOf(row.carry, { same, whole, chain, promptBytes: prompt.bytes }),
      ...(remarks.length > 0 && { remarks }),
    },
  };
}

async function storedSession(store: StoreCalls, tenant: string, id: string): Promise<SessionRow> {
  const row = await store.getSession(tenant, id);
  if (row !== undefined) return row;
  throw new HoldfastError('SessionNotFound', `There is no stored session ${id}.`, {
    hint: 'List the sessions with `holdfast sessions`. A run keeps its session with the setting persistSession.',
    details: { sessionId: id },
  });
}

/** A run that is reset to its start begins where it began, not with what it stored itself. */
function asBefore(row: SessionRow, runId: string): SessionRow {
  const { before, revision } = row;
  return row.runId === runId && before !== undefined
    ? { ...row, ...before, revision: revision - 1 }
    : row;
}

function forkId({ run, wanted, taskId }: Resuming, row: SessionRow): string {
  const id = wanted.id ?? run.runId;
  if (id === row.sessionId) {
    throw new HoldfastError('InvalidTask', 'A fork cannot have the id of what it is forked from.', {
      hint: 'Give another session id, or none.',
    });
  }
  if (taskId !== undefined && taskId === row.carry.taskId) {
    throw new HoldfastError('InvalidTask', `A fork needs a task id of its own, not ${taskId}.`, {
      hint: 'Leave task.taskId out: keys of the fork must not be those of the run before it.',
    });
  }
  return id;
}

interface Sought {
  readonly tenant: string;
  readonly newest: MessageChain;
  /** Id of the message. */
  readonly at: string;
}

/** The conversation that has this message: the newest, else the one that its summary stands for, and so on. */
async function chainWith(store: StoreCalls, { tenant, newest, at }: Sought): Promise<MessageChain> {
  let chain = newest;
  for (let summaries = 0; summaries < SUMMARIES_MAX; summaries += 1) {
    if (chain.nodes.some((node) => node.messageId === at)) return chain;
    const before = chain.nodes.findLast((node) => node.summarised !== undefined)?.summarised;
    if (before === undefined) break;
    chain = await chainAt(store, tenant, before);
  }
  throw new HoldfastError('InvalidTask', `The session has no message ${at}.`, {
    hint: 'See its messages with `holdfast transcript`.',
  });
}

/** The messages up to one of them; results belong to the calls before them. */
function upTo(nodes: readonly HashedNode[], messageId: string): readonly HashedNode[] {
  const index = nodes.findLastIndex((node) => node.messageId === messageId);
  const [node, next] = nodes.slice(index, index + 2);
  const calls = node?.blocks.some((block) => block.type === 'tool_use') ?? false;
  const answered = next?.blocks.some((block) => block.type === 'tool_result') ?? false;
  return nodes.slice(0, index + (calls && answered ? 2 : 1));
}

export async function rewritten(
  store: StoreCalls,
  tenant: string,
  conversation: { readonly root: string; readonly messages: readonly (HashedNode | Message)[] },
): Promise<string> {
  let head = conversation.root;
  for (const message of conversation.messages) {
    const { hash: _, ...content } = message as HashedNode;
    head = await store.putNode(tenant, { ...content, parent: head });
  }
  return head;
}

interface Taken {
  /** The very nodes that were stored. */
  readonly same: boolean;
  /** Up to the newest message. */
  readonly whole: boolean;
  readonly chain: MessageChain;
  readonly promptBytes: number;
}

function carryOf(carry: SessionCarry, { same, whole, chain, promptBytes }: Taken): SessionCarry {
  const { context, ...rest } = carry;
  const counted = same && whole ? context : undefined;
  const bytes = promptBytes + bytesOf(chain.nodes);
  return {
    ...rest,
    // Which value was written when is not kept: none may come from after the fork.
    ...(!whole && { state: {} }),
    context: { ...(counted ?? contextAtFirst(bytes, mediaOf(chain.nodes))), bytes },
  };
}

function remarksOn(
  repairs: readonly string[],
  { row, whole }: { readonly row: SessionRow; readonly whole: boolean },
): readonly SessionRemark[] {
  const told = repairs.slice(0, REPAIRS_TOLD_MAX);
  const more = repairs.length - told.length;
  const lines = more > 0 ? [...told, `and mended ${more} more`] : told;
  const paths = whole ? [] : Object.keys(row.carry.state);
  return [
    ...lines.map((message) => ({ code: 'history_repaired', message }) as const),
    ...(paths.length > 0
      ? [
          {
            code: 'state_not_forked',
            message: `a fork from an earlier message has no previous values (${paths.length} left out)`,
          } as const,
        ]
      : []),
  ];
}
