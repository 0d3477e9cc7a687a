/**
 * Open runs that began with code which somebody lacks: told before anybody finds out by waiting.
 * Invariant: what is told is bounded, whatever the number of runs.
 */
import type { AskRow, Asks } from './asks.js';
import type { Needs, RunNeeds } from './needs.js';
import { ALIVE_MS, type CodeNames, type QueueName, type Served } from './served.js';

const RUNS_LOOKED_AT = 1_000;
const RUNS_NAMED = 20;
/** Asked at most whether they have ended without a word to the store. */
const RUNS_ASKED = 100;
const NAMES_SHOWN = 5;
const WORKERS_MAX = 1_000;

export type Lookups = Pick<Needs, 'listNeeds' | 'dropNeeds'> &
  Pick<Served, 'listServed'> &
  Pick<Asks, 'listAsks'>;

export interface LackingRun {
  readonly tenant: string;
  readonly runId: string;
  /** `tool NAME@VERSION`, `hook NAME`. */
  readonly lacks: readonly string[];
  /** Another worker serves all of it now. */
  readonly isServed: boolean;
  /** Open questions about these tools. */
  readonly asks: readonly string[];
}

export interface LackingRuns {
  readonly named: readonly LackingRun[];
  /** How many are not named; there may be still more of them. */
  readonly more: number;
}

/** What the workers of a queue serve that are alive. */
export async function servedNow(
  store: Pick<Served, 'listServed'>,
  queue: QueueName,
): Promise<readonly CodeNames[]> {
  const workers = await store.listServed({ ...queue, withinMs: ALIVE_MS, limit: WORKERS_MAX });
  return workers.filter(({ isAlive }) => isAlive).map(({ code }) => code);
}

export interface Lacking extends QueueName {
  /** Who lacks it; absent: all living workers together. */
  readonly own?: CodeNames;
  /** Whoever terminates a run tells only the server. Default: none has ended. */
  readonly hasEnded?: (runId: string) => Promise<boolean>;
}

/** Open runs of a queue that began with other code. Rows of runs that have ended are removed. */
export async function lackingRuns(
  store: Lookups,
  { own, hasEnded = async () => false, ...queue }: Lacking,
): Promise<LackingRuns> {
  const needs = await store.listNeeds({ ...queue, limit: RUNS_LOOKED_AT });
  const alive = await servedNow(store, queue);
  const code = own === undefined ? alive : [own];
  const lacking = needs.filter((run) => missingFrom(run.code, code).length > 0);
  const named: LackingRun[] = [];
  let ended = 0;
  for (const run of lacking.slice(0, RUNS_ASKED)) {
    if (named.length === RUNS_NAMED) break;
    if (await hasEnded(run.runId)) {
      await store.dropNeeds(run);
      ended += 1;
      continue;
    }
    const lacks = missingFrom(run.code, code);
    const isServed = missingFrom(run.code, alive).length === 0;
    named.push({ ...run, lacks, isServed, asks: await asksFor(store, run, lacks) });
  }
  return { named, more: lacking.length - ended - named.length };
}

/** What a run needs and none of these has, in words. */
export function missingFrom(code: CodeNames, served: readonly CodeNames[]): readonly string[] {
  if (served.some(({ incomplete }) => incomplete)) return [];
  const tools = code.tools.filter((tool) => !served.some((one) => one.tools.includes(tool)));
  const hooks = code.hooks.filter((hook) => !served.some((one) => one.hooks.includes(hook)));
  return [
    ...tools.map((tool) => `tool ${withoutHash(tool)}`),
    ...hooks.map((hook) => `hook ${hook}`),
  ];
}

/** One line for each run, and how many more there are. */
export function lackingLines(
  { named, more }: LackingRuns,
  who: 'this worker lacks' | 'no worker serves',
): readonly string[] {
  const lines = named.map((run) => lineOf(run, who));
  return more > 0 ? [...lines, `${more} more runs began with code that ${who}.`] : lines;
}

function lineOf({ runId, lacks, isServed, asks }: LackingRun, who: string): string {
  const names = lacks.slice(0, NAMES_SHOWN).join(', ');
  const more = lacks.length > NAMES_SHOWN ? ` and ${lacks.length - NAMES_SHOWN} more` : '';
  const asked = asks.length === 0 ? '' : `, and ${asks.join(', ')} waits for a person`;
  const remedy = isServed
    ? `Another worker serves it, or did within the last ${ALIVE_MS / 1_000} s: if it is gone, keep the code in retiredTools or retiredHooks.`
    : 'Keep it in retiredTools or retiredHooks.';
  return `Run ${runId} began with ${names}${more}, which ${who}${asked}. ${remedy}`;
}

/** Ids of the open questions about these tools. */
async function asksFor(
  store: Lookups,
  { tenant, runId }: RunNeeds,
  lacks: readonly string[],
): Promise<readonly string[]> {
  const asks = await store.listAsks(tenant, { runId, pendingOnly: true, limit: NAMES_SHOWN });
  const isAbout = ({ tool, toolVersion }: AskRow): boolean =>
    lacks.includes(`tool ${tool}@${toolVersion}`);
  return asks.filter(isAbout).map(({ askId }) => askId);
}

function withoutHash(tool: string): string {
  return tool.slice(0, tool.lastIndexOf('#'));
}
