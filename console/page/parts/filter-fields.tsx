/** Fields by which lists are narrowed. */
import type { ComponentChildren, VNode } from 'preact';
import { textIn } from './form.js';
import { words } from './format.js';
import { useTyped } from './use-typed.js';

export const TYPING_MS = 300;

interface FieldProps {
  readonly label: string;
  readonly id: string;
  readonly children: ComponentChildren;
}

export function Field({ label, id, children }: FieldProps): VNode {
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      {children}
    </div>
  );
}

interface StatusFieldProps {
  readonly id: string;
  readonly statuses: readonly string[];
  readonly value: string;
  readonly choose: (status: string) => void;
}

export function StatusField({ id, statuses, value, choose }: StatusFieldProps): VNode {
  return (
    <Field label="Status" id={id}>
      <select id={id} value={value} onChange={(event) => choose(textIn(event))}>
        <option value="">Every status</option>
        {statuses.map((name) => (
          <option key={name} value={name}>
            {words(name)}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface AgentFieldProps {
  readonly id: string;
  /** What is looked for already. */
  readonly first: string;
  /** Told when somebody pauses in their typing. */
  readonly choose: (agent: string) => void;
}

export function AgentField({ id, first, choose }: AgentFieldProps): VNode {
  const agent = useTyped(TYPING_MS, first, choose);
  return (
    <Field label="Agent" id={id}>
      <input
        id={id}
        type="search"
        autocomplete="off"
        spellcheck={false}
        maxLength={128}
        value={agent.text}
        onInput={(event) => agent.type(textIn(event))}
      />
    </Field>
  );
}
