/** Which runs are listed. */
import type { ComponentChildren, VNode } from 'preact';
import type { Run } from '../data/api-types.js';
import { textIn } from '../parts/form.js';
import { words } from '../parts/format.js';
import { useTyped } from '../parts/use-typed.js';
import type { RunFilters } from './known-runs.js';

const TYPING_MS = 300;

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
};
const STATUSES = Object.keys(CHOICES);

export interface RunFiltersProps {
  readonly filters: RunFilters;
  readonly filter: (filters: RunFilters) => void;
}

export function RunFilterFields({ filters, filter }: RunFiltersProps): VNode {
  const agent = useTyped(TYPING_MS, (text) => filter({ ...filters, agent: text }));
  const cost = useTyped(TYPING_MS, (text) => filter({ ...filters, costFrom: text }));
  return (
    <search class="run-filters">
      <Field label="Status" id="runs-status">
        <select
          id="runs-status"
          value={filters.status}
          onChange={(event) => filter({ ...filters, status: textIn(event) })}
        >
          <option value="">Every status</option>
          {STATUSES.map((name) => (
            <option key={name} value={name}>
              {words(name)}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Agent" id="runs-agent">
        <input
          id="runs-agent"
          type="search"
          autocomplete="off"
          spellcheck={false}
          maxLength={128}
          value={agent.text}
          onInput={(event) => agent.type(textIn(event))}
        />
      </Field>
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
    </search>
  );
}

interface FieldProps {
  readonly label: string;
  readonly id: string;
  readonly children: ComponentChildren;
}

function Field({ label, id, children }: FieldProps): VNode {
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      {children}
    </div>
  );
}
