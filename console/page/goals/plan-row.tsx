/** One step of a plan that is edited. */
import type { VNode } from 'preact';
import { textIn } from '../parts/form.js';
import { words } from '../parts/format.js';
import { statusesFor, TITLE_CHARS_MAX, type DraftStep, type PlanDraft } from './plan-draft.js';

interface PlanRowProps {
  readonly draft: PlanDraft;
  readonly at: number;
  readonly edit: (part: Partial<DraftStep>) => void;
  readonly move: (by: -1 | 1) => void;
  readonly remove: () => void;
}

export function PlanRow({ draft, at, edit, move, remove }: PlanRowProps): VNode {
  const { id, title, status } = draft.steps[at]!;
  const name = `step ${at + 1}`;
  return (
    <li class="plan-row" data-step={id}>
      <input
        type="text"
        aria-label={`Title of ${name}`}
        maxLength={TITLE_CHARS_MAX}
        autocomplete="off"
        value={title}
        onInput={(event) => edit({ title: textIn(event) })}
      />
      <select
        aria-label={`State of ${name}`}
        value={status}
        onChange={(event) => edit({ status: textIn(event) as DraftStep['status'] })}
      >
        {statusesFor(draft, id).map((one) => (
          <option key={one} value={one}>
            {words(one)}
          </option>
        ))}
      </select>
      <Small name="up" label={`Move ${name} up`} sign="↑" press={() => move(-1)} />
      <Small name="down" label={`Move ${name} down`} sign="↓" press={() => move(1)} />
      <Small name="remove" label={`Remove ${name}`} sign="✕" press={remove} />
    </li>
  );
}

interface SmallProps {
  readonly name: string;
  readonly label: string;
  readonly sign: string;
  readonly press: () => void;
}

function Small({ name, label, sign, press }: SmallProps): VNode {
  return (
    <button type="button" class={`button quiet ${name}`} aria-label={label} onClick={press}>
      {sign}
    </button>
  );
}
