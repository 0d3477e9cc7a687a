/**
 * Finds runs by what their rows, results and events say.
 * Invariants: the newest come first and are looked at first; at most SCANNED_MAX rows are looked at, and the answer says
 * when that was not all; events are read only where something is asked that only they tell, of runs whose rows do not.
 */
import type { StoredRunStatus } from '../../core/state/view.js';
import { LIST_ROWS_MAX } from '../../store/bounds.js';
import type { RunRow, RunsQuery } from '../../store/runs.js';
import type { ReadingStore } from '../link.js';
import type { StoredTrail } from '../../store/trail-columns.js';
import { trailOf } from './run-trail.js';

export const SCANNED_MAX = 20_000;
/** No run begins then. */
const NEVER = Number.MAX_SAFE_INTEGER;

export const SORTS = ['started', 'cost', 'turns', 'active', 'waiting'] as const;
export type Sort = (typeof SORTS)[number];

/** A number from and to, both included. */
export interface Range {
  readonly from?: number;
  readonly to?: number;
}

export interface RunFilter {
  readonly status?: StoredRunStatus;
  readonly agent?: string;
  /** Only sub-agents below this run. */
  readonly root?: string;
  /** Only forks of this run. */
  readonly forksOf?: string;
  readonly stopReason?: string;
  /** Or its beginning. */
  readonly detail?: string;
  /** Any of the versions that were frozen: of the agent, the prompt, the tools, the policy, the code … */
  readonly version?: string;
  /** Rules number that the run began with; runs before rules 15 do not tell it. */
  readonly rules?: number;
  /** Name of a tool that was called, and code with which a call failed. */
  readonly tool?: string;
  readonly errorCode?: string;
  /** micro-USD; turns; ms. Of runs that have ended. */
  readonly cost?: Range;
  readonly turns?: Range;
  readonly active?: Range;
  readonly waiting?: Range;
  /** Texts, whatever their case: in the goal; in the goal or the answer. */
  readonly goal?: string;
  readonly text?: string;
  /** Of its start, ms since epoch. */
  readonly started?: Range;
}

export interface FindRuns extends RunFilter {
  readonly sort?: Sort;
  readonly limit: number;
  readonly before?: RunsQuery['before'];
  /** A further condition, looked at last. */
  readonly also?: (row: RunRow) => Promise<boolean>;
  /** Of how many rows it is asked at most, in the order of starts; absent: of all. */
  readonly alsoMax?: number;
}

export interface FoundRuns {
  readonly rows: readonly RunRow[];
  /** Of the order of starts, where there may be more: the last row that was looked at. */
  readonly rest?: RunRow;
  readonly left?: LeftOut;
}

/** Why an order but that of starts, which has no next page, is not told whole: what was looked at, or what was wanted. */
export type LeftOut = 'scanned' | 'limit';

/** A search as the options of a command and the parameters of a request say it. */
export interface AskedRuns extends Wanted<Omit<RunFilter, RangeName>> {
  readonly costFrom?: number | undefined;
  readonly costTo?: number | undefined;
  readonly turnsFrom?: number | undefined;
  readonly turnsTo?: number | undefined;
  readonly activeFrom?: number | undefined;
  readonly activeTo?: number | undefined;
  readonly waitingFrom?: number | undefined;
  readonly waitingTo?: number | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly sort?: Sort | undefined;
  readonly limit: number;
  readonly cursor?: { readonly at: number; readonly id: string } | undefined;
}

type RangeName = 'cost' | 'turns' | 'active' | 'waiting' | 'started';
type Wanted<T> = { readonly [name in keyof T]?: T[name] | undefined };

export function wantedRuns({ cursor, ...asked }: AskedRuns): FindRuns {
  const wanted = {
    ...asked,
    cost: range(asked.costFrom, asked.costTo),
    turns: range(asked.turnsFrom, asked.turnsTo),
    active: range(asked.activeFrom, asked.activeTo),
    waiting: range(asked.waitingFrom, asked.waitingTo),
    started: range(asked.since, asked.until),
    before: cursor && { startedAt: cursor.at, runId: cursor.id },
  };
  // What is undefined is as good as absent.
  return wanted as FindRuns;
}

function range(from: number | undefined, to: number | undefined) {
  return from === undefined && to === undefined ? undefined : { from, to };
}

export type FindingStore = Pick<ReadingStore, 'listRuns' | 'readEvents'>;

export async function findRuns(
  store: FindingStore,
  tenant: string,
  wanted: FindRuns,
): Promise<FoundRuns> {
  const { sort = 'started', limit, also, alsoMax = Infinity } = wanted;
  const found: RunRow[] = [];
  let [rest, last]: (RunRow | undefined)[] = [];
  let scanned = 0;
  let asked = 0;
  for await (const row of rowsOf(store, tenant, wanted)) {
    // Only a row that is not looked at any more shows that something is left.
    if (scanned === SCANNED_MAX || asked >= alsoMax) {
      rest = last;
      break;
    }
    scanned += 1;
    last = row;
    const fits = await isWanted(store, row, wanted);
    if (fits && also !== undefined) asked += 1;
    if (fits && (also === undefined || (await also(row)))) found.push(row);
    if (sort !== 'started' || found.length < limit) continue;
    rest = row;
    break;
  }
  if (sort === 'started') return { rows: found, ...(rest && { rest }) };
  const left = rest ? 'scanned' : found.length > limit ? 'limit' : undefined;
  return { rows: sorted(found, sort).slice(0, limit), ...(left && { left }) };
}

/** Newest first, down to the beginning of the time that is asked about; at most one more than is looked at. */
export async function* rowsOf(
  store: Pick<ReadingStore, 'listRuns'>,
  tenant: string,
  wanted: Omit<FindRuns, 'limit'>,
): AsyncGenerator<RunRow> {
  const { status, agent, root, forksOf, started = {}, before: first, cost } = wanted;
  const { stopReason, tool, errorCode } = wanted;
  // Newer runs than the time that is asked about use up none of the rows that are looked at.
  const { to = Infinity } = started;
  let before = first ?? (to < NEVER ? { startedAt: Math.floor(to) + 1, runId: '' } : undefined);
  for (let left = SCANNED_MAX + 1; left > 0; left -= LIST_ROWS_MAX) {
    const rows = await store.listRuns(tenant, {
      limit: Math.min(LIST_ROWS_MAX, left),
      ...(status !== undefined && { status }),
      ...(agent !== undefined && { agent }),
      ...(root !== undefined && { root }),
      ...(stopReason !== undefined && { stopReason }),
      ...(tool !== undefined && { tool }),
      ...(errorCode !== undefined && { errorCode }),
      ...(forksOf !== undefined && { forksOf }),
      ...(cost?.from !== undefined && { costFrom: cost.from }),
      ...(cost?.to !== undefined && { costTo: cost.to }),
      ...(before !== undefined && { before }),
    });
    for (const row of rows) {
      if (row.startedAt < (started.from ?? 0)) return;
      if (row.startedAt <= (started.to ?? Infinity)) yield row;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < LIST_ROWS_MAX) return;
    before = { startedAt: last.startedAt, runId: last.runId };
  }
}

/** But for the further condition. */
async function isWanted(store: FindingStore, row: RunRow, wanted: FindRuns): Promise<boolean> {
  if (!fitsRow(row, wanted)) return false;
  const { rules, tool, errorCode } = wanted;
  if (rules !== undefined && (await rulesOfRun(store, row)) !== rules) return false;
  if (tool !== undefined || errorCode !== undefined) {
    if (!fitsTrail(await trailOf(store, row), wanted)) return false;
  }
  return true;
}

function fitsRow(row: RunRow, wanted: RunFilter): boolean {
  const { result, goalPreview, stopReason, detail = '' } = row;
  const counters = result?.counters;
  const answer = JSON.stringify(result?.answer ?? result?.partialOutput ?? '');
  return (
    (wanted.stopReason === undefined || wanted.stopReason === stopReason) &&
    (wanted.detail === undefined || detail.startsWith(wanted.detail)) &&
    (wanted.version === undefined || hasVersion(result?.versions ?? {}, wanted.version)) &&
    within(counters?.turnCount, wanted.turns) &&
    within(counters?.activeMs, wanted.active) &&
    within(counters?.waitingMs, wanted.waiting) &&
    (wanted.goal === undefined || has(goalPreview, wanted.goal)) &&
    (wanted.text === undefined || has(goalPreview, wanted.text) || has(answer, wanted.text))
  );
}

function hasVersion(versions: { readonly [name: string]: string }, wanted: string): boolean {
  return Object.values(versions).includes(wanted);
}

function within(value: number | undefined, range: Range | undefined): boolean {
  if (range === undefined) return true;
  return value !== undefined && value >= (range.from ?? 0) && value <= (range.to ?? Infinity);
}

function has(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

function fitsTrail({ tools, errorCodes }: StoredTrail, { tool, errorCode }: RunFilter): boolean {
  return (
    (tool === undefined || tools.has(tool)) &&
    (errorCode === undefined || errorCodes.has(errorCode))
  );
}

const BY: { readonly [sort in Exclude<Sort, 'started'>]: (row: RunRow) => number } = {
  cost: ({ costMicroUsd = -1 }) => costMicroUsd,
  turns: ({ result }) => result?.counters.turnCount ?? -1,
  active: ({ result }) => result?.counters.activeMs ?? -1,
  waiting: ({ result }) => result?.counters.waitingMs ?? -1,
};

/** The most first; equal ones stay newest first. */
function sorted(rows: readonly RunRow[], sort: Exclude<Sort, 'started'>): readonly RunRow[] {
  return rows.toSorted((one, other) => BY[sort](other) - BY[sort](one));
}

async function rulesOfRun(
  store: FindingStore,
  { tenant, runId, rules, trail }: RunRow,
): Promise<number | undefined> {
  if (rules !== undefined || trail !== undefined) return rules;
  const { events } = await store.readEvents({ tenant, runId }, { sinceSeq: 0, limit: 1 });
  const [first] = events;
  return first?.type === 'session_init' ? first.rules : undefined;
}
