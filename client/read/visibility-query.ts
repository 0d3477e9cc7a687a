/** What Temporal is asked when it lists runs. */
import type { EndByTemporal } from '../../pure/listed-status.js';
import { AGENT_RUN, GOAL_RUN } from '../../workflows/messages.js';

/** Search attributes of a run, and Temporal's own, that are to be equal. */
export type EqualTo = Readonly<
  Partial<
    Record<
      'HoldfastTenant' | 'HoldfastStatus' | 'HoldfastAgent' | 'ExecutionStatus',
      string | undefined
    >
  >
>;

/** What is listed: runs, goals, or both. */
export type Listed = 'run' | 'goal' | 'both';

export function visibilityQuery(equalTo: EqualTo, listed: Listed = 'run'): string {
  const filters = Object.entries(equalTo);
  const types = {
    run: `WorkflowType = ${literal(AGENT_RUN)}`,
    goal: `WorkflowType = ${literal(GOAL_RUN)}`,
    both: `WorkflowType IN (${literal(AGENT_RUN)}, ${literal(GOAL_RUN)})`,
  };
  const others = filters
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name} = ${literal(value)}`]))
    .map((filter) => ` AND ${filter}`);
  return [types[listed], ...others].join('');
}

/** Of these runs and goals of a tenant those that have an execution which ended by itself or was ended. */
export function closedAmong(runIds: readonly string[], tenant: string): string {
  const ids = `WorkflowId IN (${runIds.map(literal).join(', ')})`;
  const own = visibilityQuery({ HoldfastTenant: tenant }, 'both');
  return `${own} AND ${ids} AND ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'`;
}

/** Running executions of a tenant's runs whose ids begin so. */
export function runningBelow(tenant: string, below: string): string {
  const own = visibilityQuery({ HoldfastTenant: tenant, ExecutionStatus: 'Running' });
  return `${own} AND WorkflowId STARTS_WITH ${literal(below)}`;
}

/** What is looked for beside executions of named runs. */
export interface OtherExecutions {
  readonly running?: boolean;
  readonly ends: readonly EndByTemporal[];
  readonly agent?: string | undefined;
  /** Of their start, ms since epoch. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

interface ExecutionsWanted {
  readonly tenant: string;
  readonly listed: Listed;
  /** All their executions but those that another one continues. */
  readonly runIds: readonly string[];
  /** Beside these. */
  readonly others?: OtherExecutions;
}

/** Later ones have another form. */
const MOMENT_MAX = Date.UTC(9999, 0);

/** In Temporal's words. */
export const ENDED_AS: { readonly [end in EndByTemporal]: string } = {
  terminated: 'Terminated',
  timed_out: 'TimedOut',
  failed: 'Failed',
  cancelled: 'Canceled',
};

export function executionsQuery({ tenant, listed, runIds, others }: ExecutionsWanted): string {
  const parts: string[] = [];
  if (runIds.length > 0) {
    const ids = runIds.map(literal).join(', ');
    parts.push(`(WorkflowId IN (${ids}) AND ExecutionStatus != 'ContinuedAsNew')`);
  }
  if (others !== undefined) parts.push(`(${othersQuery(others)})`);
  return `${visibilityQuery({ HoldfastTenant: tenant }, listed)} AND (${parts.join(' OR ')})`;
}

function othersQuery({ running = false, ends, agent, from, to }: OtherExecutions): string {
  const statuses = [...(running ? ['Running'] : []), ...ends.map((end) => ENDED_AS[end])];
  const conditions = [`ExecutionStatus IN (${statuses.map(literal).join(', ')})`];
  if (agent !== undefined) conditions.push(`HoldfastAgent = ${literal(agent)}`);
  if (from !== undefined) conditions.push(`StartTime >= ${moment(from)}`);
  // Temporal's times are finer: whatever began within the millisecond is asked for.
  if (to !== undefined) conditions.push(`StartTime < ${moment(to + 1)}`);
  return conditions.join(' AND ');
}

function moment(ms: number): string {
  return literal(new Date(Math.min(Math.max(0, ms), MOMENT_MAX)).toISOString());
}

/** Nothing in a text ends it. Names of tenants and agents have no character that needs this. */
function literal(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}
