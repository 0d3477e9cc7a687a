/**
 * What stands behind an id of evidence, for people: the call with its row of the ledger, the check, the answer.
 * Invariants: an id is looked up under one tenant and in one goal's own tree (its cycles as the goal has registered them,
 * and the goals that it goes on with); what is not there and what is another goal's are the same answer.
 */
import { previewOf, type Json, type StoredText } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import {
  countsAsEvidence,
  parseEvidence,
  runOfCall,
  type EvidenceId,
} from '../../pure/goal/evidence.js';
import type { StoredLedgerRow } from '../../store/ledger.js';
import { isOfGoal } from '../../store/of-goal.js';
import type { DeskStore } from '../desk-store.js';
import type { Excerpt } from '../grounds.js';

export interface Evidence {
  readonly id: string;
  readonly kind: EvidenceId['kind'];
  /** Run whose event it is: a cycle, or the goal. */
  readonly runId: string;
  readonly cycle?: number;
  readonly at?: number;
  /** Number of the event. */
  readonly seq?: number;
  readonly tool?: string;
  /** What the worker put in. */
  readonly args?: Json;
  readonly content?: Excerpt;
  readonly ledger?: LedgerShown;
  readonly check?: CheckShown;
  readonly ask?: AskShown;
}

export interface LedgerShown {
  readonly key: string;
  readonly state: string;
  readonly attempt: number;
  readonly tool: string;
  readonly source?: string;
}

interface CheckShown {
  readonly name: string;
  readonly n: number;
  readonly known: boolean;
  readonly value?: number;
  readonly best?: number;
  readonly because?: string;
  /** sha256 of the whole result: its receipt. */
  readonly digest?: string;
}

interface AskShown {
  readonly askId: string;
  readonly question?: string;
  readonly outcome: string;
  readonly by: readonly string[];
  readonly reason?: string;
}

export interface EvidencePlace {
  readonly tenant: string;
  readonly goalId: string;
  /** Goals that it goes on with. */
  readonly ancestors: readonly string[];
}

type Reader = Pick<
  DeskStore,
  'readEvents' | 'getBlob' | 'childRow' | 'getLedgerRow' | 'getAsk' | 'getRun'
>;

const PAGE_EVENTS = 1_000;
/** Longer runs are looked through so far. */
const PAGES_MAX = 50;
const CONTENT_CHARS_MAX = 4_000;
const CONTENT_BYTES_READ_MAX = 262_144;

export async function evidenceOf(
  store: Reader,
  { tenant, goalId, ancestors }: EvidencePlace,
  id: string,
): Promise<Evidence | undefined> {
  const parsed = id.includes('\0') ? undefined : parseEvidence(id);
  if (parsed === undefined) return undefined;
  const { goal = goalId } = parsed;
  if (goal !== goalId && !ancestors.includes(goal)) return undefined;
  const found = await find({ store, tenant, goal }, parsed.id);
  return found && { id, kind: parsed.id.kind, ...found };
}

interface Tree {
  readonly store: Reader;
  readonly tenant: string;
  readonly goal: string;
}

type Found = Omit<Evidence, 'id' | 'kind'>;

function find(tree: Tree, id: EvidenceId): Promise<Found | undefined> {
  switch (id.kind) {
    case 'call':
      return findCall(tree, id);
    case 'check':
      return findCheck(tree, id);
    case 'effect':
      return findEffect(tree, id.key);
    case 'ask':
      return findAnswer(tree, id.id);
  }
}

async function findCall(
  tree: Tree,
  { cycle, below = [], call }: Extract<EvidenceId, { kind: 'call' }>,
): Promise<Found | undefined> {
  const runId = runOfCall(tree.goal, { cycle, below });
  if (!(await isOfGoal(tree.store, tree, runId))) return undefined;
  const { args, finished } = await callIn(tree, runId, (event) => event.callId === call);
  if (finished === undefined) return undefined;
  const { key, tool, content, stamp } = finished;
  const row = await tree.store.getLedgerRow(tree.tenant, key);
  return {
    runId,
    cycle,
    at: stamp.at,
    seq: stamp.seq,
    tool,
    ...(args !== undefined && { args }),
    content: await excerptOf(tree, content),
    ...(row?.runId === runId && { ledger: ledgerShown(row) }),
  };
}

type Finished = Extract<RunEvent, { type: 'tool_finished' }>;

interface Call {
  readonly args?: Json;
  readonly finished?: Finished;
}

async function callIn(
  tree: Tree,
  runId: string,
  isWanted: (event: Finished) => boolean,
): Promise<Call> {
  const args = new Map<string, Json>();
  let finished: Finished | undefined;
  for await (const event of eventsOf(tree, runId)) {
    if (event.type === 'tool_started') args.set(event.callId, event.args);
    if (countsAsEvidence(event) && isWanted(event)) finished = event;
  }
  if (finished === undefined) return {};
  const given = args.get(finished.callId);
  return { finished, ...(given !== undefined && { args: given }) };
}

async function findCheck(
  tree: Tree,
  { name, n }: Extract<EvidenceId, { kind: 'check' }>,
): Promise<Found | undefined> {
  const runId = tree.goal;
  for await (const event of eventsOf(tree, runId)) {
    if (event.type !== 'check_finished' || event.name !== name || event.n !== n) continue;
    const { type: _, stamp, ...check } = event;
    const { digest } = check;
    const whole = digest === undefined ? undefined : await contentAt(tree, digest);
    const content = whole && { content: whole };
    return { runId, at: stamp.at, seq: stamp.seq, check, ...content };
  }
  return undefined;
}

async function findEffect(tree: Tree, key: string): Promise<Found | undefined> {
  const row = await tree.store.getLedgerRow(tree.tenant, key);
  if (row === undefined || !(await isOfGoal(tree.store, tree, row.runId))) return undefined;
  const { args, finished } = await callIn(tree, row.runId, (event) => event.key === key);
  const { result } = row;
  const said = finished?.content ?? (row.state === 'recorded' ? result : undefined);
  return {
    runId: row.runId,
    tool: row.tool,
    ledger: ledgerShown(row),
    ...(args !== undefined && { args }),
    ...(finished !== undefined && { at: finished.stamp.at, seq: finished.stamp.seq }),
    ...(said !== undefined && { content: await excerptOf(tree, said) }),
  };
}

async function findAnswer(tree: Tree, askId: string): Promise<Found | undefined> {
  const row = await tree.store.getAsk(tree.tenant, askId);
  if (row === undefined) return undefined;
  const { runId, question, outcome, by, reason, resolvedAt } = row;
  if (runId !== tree.goal && !(await isOfGoal(tree.store, tree, runId))) return undefined;
  return {
    runId,
    ...(resolvedAt !== undefined && { at: resolvedAt }),
    ask: {
      askId,
      outcome,
      by,
      ...(question !== undefined && { question }),
      ...(reason !== undefined && { reason }),
    },
  };
}

async function* eventsOf({ store, tenant }: Tree, runId: string) {
  let sinceSeq = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = { sinceSeq, limit: PAGE_EVENTS };
    const { events, nextSeq } = await store.readEvents({ tenant, runId }, query);
    yield* events;
    if (events.length < PAGE_EVENTS) return;
    sinceSeq = nextSeq;
  }
}

function ledgerShown({ key, state, attempt, tool, source }: StoredLedgerRow): LedgerShown {
  return { key, state, attempt, tool, ...(source !== undefined && { source }) };
}

async function excerptOf(tree: Tree, stored: StoredText): Promise<Excerpt> {
  if ('text' in stored) return { text: stored.text };
  const { $blob: blob, bytes } = stored;
  if (bytes > CONTENT_BYTES_READ_MAX) return { text: previewOf(stored), blob, bytes };
  return (await contentAt(tree, blob)) ?? { text: previewOf(stored), blob, bytes };
}

async function contentAt({ store, tenant }: Tree, hash: string): Promise<Excerpt | undefined> {
  const text = await store.getBlob(tenant, hash);
  if (text === undefined) return undefined;
  if (text.length <= CONTENT_CHARS_MAX) return { text };
  return { text: text.slice(0, CONTENT_CHARS_MAX), blob: hash, bytes: Buffer.byteLength(text) };
}
