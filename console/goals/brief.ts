/** The brief of a cycle: what its agent was told, and what was quoted to it as data. */
import { isRecord } from '../../core/json/shape.js';
import type { RunEvent } from '../../core/state/event.js';
import type { BriefPart } from '../../pure/goal/brief-part.js';
import type { RunRow } from '../../store/runs.js';
import type { DeskStore } from '../desk-store.js';
import { storedJson } from './goal-memory.js';
import { newestFirst } from './newest-first.js';

export interface BriefShown {
  /** Absent: of a cycle that has not begun. */
  readonly n?: number;
  readonly runId?: string;
  readonly agent?: string;
  readonly hash: string;
  /** Estimated. */
  readonly tokens?: number;
  readonly sections: { readonly [section: string]: number };
  readonly task: string;
  readonly context: readonly BriefPart[];
}

type Reader = Pick<DeskStore, 'readEvents' | 'getBlob' | 'childRow' | 'listAsks'>;
type Named = { readonly digest: string; readonly n?: number | undefined };

const ASKS_MAX = 10;

/** Of the cycle `n`; default: the newest. Undefined: there is none, or the store has lost it. */
export async function briefOfCycle(
  store: Reader,
  row: RunRow,
  n?: number,
): Promise<BriefShown | undefined> {
  const started = await cycleStarted(store, row, n);
  if (started === undefined) return undefined;
  const { runId, agent, brief: hash, briefTokens } = started;
  const found = await briefAt(store, row.tenant, hash);
  return found && { tokens: briefTokens, ...found, n: started.n, runId, agent };
}

/** Of a cycle that somebody is asked about: by the digest that a question or a cycle of this goal names. */
export async function briefOfDigest(
  store: Reader,
  row: RunRow,
  { digest, n }: Named,
): Promise<BriefShown | undefined> {
  if (!(await isNamed(store, row, { digest, n }))) return undefined;
  const stored = await briefAt(store, row.tenant, digest);
  if (stored !== undefined || n === undefined) return stored;
  const runId = `${row.runId}:c${n}`;
  const child = await store.childRow(row.tenant, runId);
  if (child?.parent !== row.runId || child.digest !== digest) return undefined;
  return { ...briefIn(jsonOf(child.start), digest), n, runId };
}

/** The store has briefs of other goals under their digests, too. */
async function isNamed(store: Reader, row: RunRow, { digest, n }: Named): Promise<boolean> {
  const query = { runId: row.runId, search: digest, limit: ASKS_MAX };
  const asks = await store.listAsks(row.tenant, query);
  const isAsked = asks.some(
    ({ args }) => isRecord(args) && args.brief === digest && (n === undefined || args.n === n),
  );
  if (isAsked) return true;
  for await (const event of newestFirst(store, row)) {
    if (event.type !== 'cycle_started' || event.brief !== digest) continue;
    if (n === undefined || event.n === n) return true;
  }
  return false;
}

type Started = Extract<RunEvent, { type: 'cycle_started' }>;

async function cycleStarted(
  store: Reader,
  row: RunRow,
  n: number | undefined,
): Promise<Started | undefined> {
  for await (const event of newestFirst(store, row)) {
    if (event.type === 'cycle_started' && (n === undefined || event.n === n)) return event;
  }
  return undefined;
}

async function briefAt(
  store: Reader,
  tenant: string,
  hash: string,
): Promise<BriefShown | undefined> {
  const stored = await storedJson(store, { tenant, hash });
  return isRecord(stored) && isRecord(stored.task) ? briefIn(stored, hash) : undefined;
}

function briefIn(stored: unknown, hash: string): BriefShown {
  const { task, context, sections, tokens } = isRecord(stored) ? stored : {};
  return {
    hash,
    task: isRecord(task) && typeof task.goal === 'string' ? task.goal : '',
    context: partsIn(context ?? (isRecord(task) ? task.context : undefined)),
    sections: isRecord(sections) ? (sections as BriefShown['sections']) : {},
    ...(typeof tokens === 'number' && { tokens }),
  };
}

/** What is quoted as data in the stored start of a cycle. */
export function startedWith(start: string | undefined): readonly BriefPart[] {
  return start === undefined ? [] : briefIn(jsonOf(start), '').context;
}

function partsIn(context: unknown): readonly BriefPart[] {
  return Array.isArray(context) ? (context as readonly unknown[]).filter(isPart) : [];
}

function isPart(value: unknown): value is BriefPart {
  if (!isRecord(value)) return false;
  const { origin, cycle, by, text } = value;
  const isNamed = typeof origin === 'string' && typeof by === 'string';
  return isNamed && typeof text === 'string' && typeof cycle === 'number';
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
