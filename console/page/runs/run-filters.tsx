/** Which runs are listed. */
import type { VNode } from 'preact';
import type { Run } from '../data/api-types.js';
import { AgentField, Field, StatusField, TYPING_MS } from '../parts/filter-fields.js';
import { textIn } from '../parts/form.js';
import { useTyped } from '../parts/use-typed.js';
import { ConditionFields } from './condition-fields.js';
import type { RunFilters } from './known-runs.js';

/** In the order of the list. The page has types alone of the core: a status more there does not compile here. */
const CHOICES: { readonly [status in Run['status']]: true } = {
  running: true,
  awaiting_approval: true,
  awaiting_input: true,
  awaiting_outcome: true,
  awaiting_budget: true,
  awaiting_user: true,
  completed: true,
  stopped: true,
  failed: true,
  cancelled: true,
  terminated: true,
  timed_out: true,
};
const STATUSES = Object.keys(CHOICES);

export interface RunFiltersProps {
  readonly filters: RunFilters;
  readonly filter: (filters: RunFilters) => void;
}

export function RunFilterFields({ filters, filter }: RunFiltersProps): VNode {
  const cost = useTyped(TYPING_MS, filters.costFrom, (text) =>
    filter({ ...filters, costFrom: text }),
  );
  return (
    <search class="run-filters">
      <StatusField
        id="runs-status"
        statuses={STATUSES}
        value={filters.status}
        choose={(status) => filter({ ...filters, status })}
      />
      <AgentField
        id="runs-agent"
        first={filters.agent}
        choose={(agent) => filter({ ...filters, agent })}
      />
      <Field label="Cost at least, in $" id="runs-cost">
        <input
          id="runs-cost"
          type="text"
          inputMode="decimal"
          autocomplete="off"
          placeholder="0.00"
          value={cost.text}
          onInput={(event) => cost.type(textIn(event))}
        />
      </Field>
      <ConditionFields
        sort={filters.sort}
        written={filters.written}
        choose={(sort) => filter({ ...filters, sort })}
        write={(name, text) =>
          filter({ ...filters, written: { ...filters.written, [name]: text } })
        }
      />
    </search>
  );
}
