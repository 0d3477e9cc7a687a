/** Fields of the further conditions, and of the order. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Field, TYPING_MS } from '../parts/filter-fields.js';
import { textIn } from '../parts/form.js';
import { useTyped } from '../parts/use-typed.js';
import {
  CONDITIONS,
  SORTS,
  parametersOf,
  type ConditionName,
  type Sort,
  type Written,
} from './conditions.js';

const TEXT_CHARS_MAX = 200;
const NAMES = Object.keys(CONDITIONS) as ConditionName[];

interface ConditionFieldsProps {
  readonly sort: Sort;
  readonly written: Written;
  readonly choose: (sort: Sort) => void;
  readonly write: (name: ConditionName, text: string) => void;
}

export function ConditionFields(props: ConditionFieldsProps): VNode {
  const { sort, written, choose, write } = props;
  // Nobody must wonder why a list is short.
  const [isOpen] = useState(sort !== 'started' || parametersOf(written).size > 0);
  return (
    <details class="run-conditions" open={isOpen}>
      <summary>More conditions, and the order</summary>
      <div class="run-filters">
        <Field label="Order" id="runs-sort">
          <select id="runs-sort" value={sort} onChange={(event) => choose(textIn(event) as Sort)}>
            {Object.entries(SORTS).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        {NAMES.map((name) => (
          <ConditionField
            key={name}
            name={name}
            first={written[name] ?? ''}
            write={(text) => write(name, text)}
          />
        ))}
      </div>
    </details>
  );
}

interface ConditionFieldProps {
  readonly name: ConditionName;
  readonly first: string;
  /** Told when somebody pauses in their typing. */
  readonly write: (text: string) => void;
}

function ConditionField({ name, first, write }: ConditionFieldProps): VNode {
  const { label, unit } = CONDITIONS[name];
  const typed = useTyped(TYPING_MS, first, write);
  const id = `runs-${name}`;
  const said = {
    id,
    value: typed.text,
    onInput: (event: Event) => typed.type(textIn(event)),
  };
  return (
    <Field label={label} id={id}>
      {unit === 'day' ? (
        <input {...said} type="date" />
      ) : (
        <input
          {...said}
          type="text"
          inputMode={unit === 'text' ? 'text' : 'decimal'}
          autocomplete="off"
          spellcheck={false}
          maxLength={TEXT_CHARS_MAX}
        />
      )}
    </Field>
  );
}
