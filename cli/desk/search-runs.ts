/** The conditions of `holdfast list` that look into results and events, and the order of its rows. */
import type { Command } from 'commander';
import { findJoined } from '../../client/read/find-joined.js';
import { SORTS, wantedRuns, type FindRuns, type Sort } from '../../client/read/find-runs.js';
import { summaryOf, withSpent, type RunSummary } from '../../client/read/run-summary.js';
import type { HoldfastError } from '../../core/state/errors.js';
import { STOP_MEANINGS } from '../../core/step/stop.js';
import { LISTED_STATUSES, type ListedStatus } from '../../pure/listed-status.js';
import type { RunRow } from '../../store/runs.js';
import type { Cli } from '../command.js';
import { neededStore, type Session } from '../session.js';
import { oneOf, usage, wholeNumber } from '../usage.js';
import { tenantOf, type TenantOptions } from './actor.js';
import { cursorOf } from '../../console/http/cursor.js';
import { joinerIn } from './joined.js';
import { moneyIn } from './more-budget.js';
import { someText, type Page, type PageOptions } from './paging.js';
import { eventsOfRun, oneRecordedOf } from './recorded.js';
import { moment, span } from './times.js';

export interface SearchOptions {
  readonly stopReason?: string;
  readonly detail?: string;
  readonly version?: string;
  readonly rules?: number;
  readonly tool?: string;
  readonly errorCode?: string;
  readonly turnsFrom?: number;
  readonly turnsTo?: number;
  readonly activeFrom?: number;
  readonly activeTo?: number;
  readonly waitingFrom?: number;
  readonly waitingTo?: number;
  readonly goal?: string;
  readonly text?: string;
  readonly since?: number;
  readonly until?: number;
  readonly differsFrom?: string;
  readonly sort?: Sort;
}

/** Options by which nothing but the fast list is wanted are not among them. */
const NAMES = [
  'stopReason',
  'detail',
  'version',
  'rules',
  'tool',
  'errorCode',
  'turnsFrom',
  'turnsTo',
  'activeFrom',
  'activeTo',
  'waitingFrom',
  'waitingTo',
  'goal',
  'text',
  'since',
  'until',
  'differsFrom',
  'sort',
] as const satisfies readonly (keyof SearchOptions)[];

const COUNT_MAX = 1_000_000_000;

type SearchOption = readonly [flags: string, says: string, read: (text: string) => unknown];

const OPTIONS: readonly SearchOption[] = [
  [
    '--stop-reason <reason>',
    'only runs that ended for this reason',
    (text) => oneOf('stop reason', Object.keys(STOP_MEANINGS))(text),
  ],
  ['--detail <text>', 'only runs whose detail of the end begins so', someText('--detail')],
  [
    '--version <text>',
    'only runs with this version of agent, prompt, tools, policy or code',
    someText('--version'),
  ],
  [
    '--rules <number>',
    'only runs that began with this rules number (from 15 on)',
    wholeNumber('--rules', [1, 1_000_000]),
  ],
  ['--tool <name>', 'only runs that called this tool', someText('--tool')],
  [
    '--error-code <code>',
    'only runs in which a call failed with this code',
    someText('--error-code'),
  ],
  [
    '--turns-from <count>',
    'only ended runs of this many turns or more',
    wholeNumber('--turns-from', [0, COUNT_MAX]),
  ],
  [
    '--turns-to <count>',
    'only ended runs of this many turns or fewer',
    wholeNumber('--turns-to', [0, COUNT_MAX]),
  ],
  [
    '--active-from <time>',
    'only ended runs that worked this long or longer: 90s',
    span('--active-from'),
  ],
  ['--active-to <time>', 'only ended runs that worked this long or shorter', span('--active-to')],
  [
    '--waiting-from <time>',
    'only ended runs that waited this long or longer',
    span('--waiting-from'),
  ],
  ['--waiting-to <time>', 'only ended runs that waited this long or shorter', span('--waiting-to')],
  ['--goal <text>', 'only runs with this text in the goal', someText('--goal')],
  ['--text <text>', 'only runs with this text in the goal or the answer', someText('--text')],
  ['--since <time>', 'only runs that began since then: 7d, 90m, 2026-11-01', moment('--since')],
  ['--until <time>', 'only runs that began until then', moment('--until')],
  [
    '--differs-from <run-or-file>',
    'only runs that did something else than this one',
    someText('--differs-from'),
  ],
  ['--sort <key>', `the most first: ${SORTS.join(', ')} (default started)`, oneOf('order', SORTS)],
];

/** What the rows of runs tell by themselves. */
const OF_ROWS: readonly SearchOption[] = [
  [
    '--status <status>',
    `only these: ${LISTED_STATUSES.join(', ')}`,
    oneOf('status', LISTED_STATUSES),
  ],
  ['--agent <name>', 'only runs of this agent', someText('--agent')],
  [
    '--cost-from <amount>',
    'only runs that have ended and cost this much or more: 0.50usd, or micro-USD',
    moneyIn('--cost-from'),
  ],
  ['--cost-to <amount>', 'the same, this much or less', moneyIn('--cost-to')],
];

export function withRows(command: Command): Command {
  return withOptions(command, OF_ROWS);
}

function withOptions(command: Command, options: readonly SearchOption[]): Command {
  return options.reduce((one, [flags, says, read]) => one.option(flags, says, read), command);
}

export function withSearch(command: Command): Command {
  return withOptions(command, OPTIONS);
}

export function isSearch(options: SearchOptions): boolean {
  return NAMES.some((name) => options[name] !== undefined);
}

/** As the desk takes them. */
export function searchParameters(options: SearchOptions): { readonly [name: string]: unknown } {
  return Object.fromEntries(NAMES.map((name) => [name, options[name]]));
}

export function onlyWithStore(): HoldfastError {
  return usage(
    'The desk compares with runs that it knows, not with files.',
    'Name a run, or ask on a host that reaches the store, without a token.',
  );
}

type Searched = SearchOptions &
  TenantOptions &
  PageOptions & {
    readonly status?: ListedStatus;
    readonly agent?: string;
    readonly root?: string;
    readonly forksOf?: string;
    readonly costFrom?: number;
    readonly costTo?: number;
    readonly limit: number;
  };

export async function searchRuns(
  cli: Cli,
  session: Session,
  options: Searched,
): Promise<Page<RunSummary>> {
  const store = await neededStore(session);
  const tenant = tenantOf(options);
  const also = await differing(cli, session, options);
  const { status, ...asked } = options;
  const query = { ...wantedRuns(asked), status, ...(also !== undefined && { also }) };
  const joiner = joinerIn(session, store, tenant);
  const { rows, rest, left, trouble } = await findJoined({ store, tenant, joiner }, query);
  return {
    items: await withSpent(store, tenant, rows.map(summaryOf)),
    ...(rest && { next: cursorOf(rest.startedAt, rest.runId) }),
    ...(left && { left }),
    ...(trouble !== undefined && { trouble }),
  };
}

async function differing(
  cli: Cli,
  session: Session,
  { differsFrom }: SearchOptions,
): Promise<FindRuns['also']> {
  if (differsFrom === undefined) return undefined;
  const { bundle } = await oneRecordedOf(cli, session, { subject: differsFrom });
  const { diffOf } = await import('../../recording/diff.js');
  const a = { runId: bundle.run.runId, events: bundle.events };
  return async ({ tenant, runId }: RunRow) => {
    const b = { runId, events: await eventsOfRun(session, { tenant, runId }) };
    return !diffOf(a, b, { actions: true }).equal;
  };
}
