/** What Temporal is asked when it lists runs. */
import { AGENT_RUN } from '../../workflows/messages.js';

/** Search attributes of a run, and Temporal's own, that are to be equal. */
export type EqualTo = Readonly<
  Partial<
    Record<
      'HoldfastTenant' | 'HoldfastStatus' | 'HoldfastAgent' | 'ExecutionStatus',
      string | undefined
    >
  >
>;

export function visibilityQuery(equalTo: EqualTo): string {
  const filters = Object.entries({ WorkflowType: AGENT_RUN, ...equalTo });
  return filters
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name} = ${literal(value)}`]))
    .join(' AND ');
}

/** Of these runs of a tenant those that have an execution which ended by itself or was ended. */
export function closedAmong(runIds: readonly string[], tenant: string): string {
  const ids = `WorkflowId IN (${runIds.map(literal).join(', ')})`;
  const own = visibilityQuery({ HoldfastTenant: tenant });
  return `${own} AND ${ids} AND ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'`;
}

/** Nothing in a text ends it. Names of tenants and agents have no character that needs this. */
function literal(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}
