/** The fields of a form, as inputs. */
import type { VNode } from 'preact';
import type { Json } from '../data/api-types.js';
import { textIn } from '../parts/form.js';
import { isTicked, textOf, type Drafts } from './read-fields.js';
import type { Field } from './schema-fields.js';

export interface FieldInputsProps {
  readonly field: Field;
  readonly drafts: Drafts;
  readonly draft: (fieldId: string, said: string | boolean) => void;
}

export function FieldInputs({ field, drafts, draft }: FieldInputsProps): VNode {
  if (field.kind !== 'object') return <LabelledInput field={field} drafts={drafts} draft={draft} />;
  const inputs = field.fields.map((inner) => (
    <FieldInputs key={inner.id} field={inner} drafts={drafts} draft={draft} />
  ));
  if (field.name === '') return <div class="form-fields">{inputs}</div>;
  return (
    <fieldset>
      <legend>{field.name}</legend>
      {inputs}
    </fieldset>
  );
}

type Single = Exclude<Field, { readonly kind: 'object' }>;

interface SingleProps extends FieldInputsProps {
  readonly field: Single;
}

function LabelledInput(props: SingleProps): VNode {
  const { id, name, isNeeded, help } = props.field;
  return (
    <div class="form-field">
      <label for={id}>
        {name}
        {!isNeeded && <span class="optional"> (optional)</span>}
      </label>
      <Input {...props} />
      {help !== undefined && (
        <p id={`${id}-help`} class="help">
          {help}
        </p>
      )}
    </div>
  );
}

function Input({ field, drafts, draft }: SingleProps): VNode {
  const { id, name, help } = field;
  const described = help === undefined ? {} : { 'aria-describedby': `${id}-help` };
  const own = { id, name, ...described };
  const write = (event: Event): void => draft(id, textIn(event));
  switch (field.kind) {
    case 'flag':
      return (
        <input
          {...own}
          type="checkbox"
          checked={isTicked(field, drafts)}
          onChange={(event) => draft(id, event.currentTarget.checked)}
        />
      );
    case 'choice':
      return (
        <select {...own} value={textOf(field, drafts)} onChange={write}>
          {field.choices.map((choice, place) => (
            <option key={place} value={String(place)}>
              {choiceName(choice)}
            </option>
          ))}
        </select>
      );
    case 'number':
      return (
        <input
          {...own}
          type="text"
          inputMode={field.isWhole ? 'numeric' : 'decimal'}
          autocomplete="off"
          class="number"
          value={textOf(field, drafts)}
          onInput={write}
        />
      );
    case 'text':
      if (!field.isLong) {
        const plain = { type: 'text', autocomplete: 'off', spellcheck: false } as const;
        return <input {...own} {...plain} value={textOf(field, drafts)} onInput={write} />;
      }
      return <LongInput own={own} text={textOf(field, drafts)} write={write} />;
    case 'json':
      return <LongInput own={own} text={textOf(field, drafts)} write={write} isCode />;
  }
}

interface LongInputProps {
  readonly own: { readonly id: string; readonly name: string };
  readonly text: string;
  readonly write: (event: Event) => void;
  readonly isCode?: boolean;
}

function LongInput({ own, text, write, isCode = false }: LongInputProps): VNode {
  const code = isCode ? { class: 'code' } : {};
  return <textarea {...own} {...code} rows={4} spellcheck={false} value={text} onInput={write} />;
}

function choiceName(choice: Json | undefined): string {
  if (choice === undefined) return 'not given';
  return typeof choice === 'string' ? choice : JSON.stringify(choice);
}
