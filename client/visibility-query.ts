/** What Temporal is asked when it lists runs. */
import { AGENT_RUN } from '../workflows/messages.js';

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

/** Nothing in a text ends it. Names of tenants and agents have no character that needs this. */
function literal(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}
