/** What Temporal is asked when it lists runs. */
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

/** Nothing in a text ends it. Names of tenants and agents have no character that needs this. */
function literal(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}
