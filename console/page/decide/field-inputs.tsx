/** The fields of a form, as inputs. */
import type { VNode } from 'preact';
import { labelOf } from '../../../pure/headline.js';
import type { Ask, Json } from '../data/api-types.js';
import { amountAt } from '../parts/amount-words.js';
import { textIn } from '../parts/form.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { inertText } from '../parts/inert-text.js';
import { choiceId, isListed, isTicked, textOf, type Drafts } from './read-fields.js';
import type { Field } from './schema-fields.js';

const HELP_CHARS = 600;
const CHOICE_CHARS = 200;

export interface FieldInputsProps {
  readonly field: Field;
  readonly drafts: Drafts;
  readonly draft: (fieldId: string, said: string | boolean) => void;
  /** Of the tool that the fields are for. */
  readonly card: Ask['card'];
  /** What the fields say together, as far as they can be read. */
  readonly said: Json | undefined;
}

export function FieldInputs(props: FieldInputsProps): VNode {
  const { field, card } = props;
  if (field.kind === 'list') return <ListInput {...props} field={field} />;
  if (field.kind !== 'object') return <LabelledInput {...props} field={field} />;
  const inputs = field.fields.map((inner) => (
    <FieldInputs {...props} key={inner.id} field={inner} />
  ));
  if (field.name === '') return <div class="form-fields">{inputs}</div>;
  return (
    <fieldset>
      <legend>
        <FieldName name={field.name} label={labelOf(card, field.path)} />
      </legend>
      {inputs}
    </fieldset>
  );
}

type List = Extract<Field, { readonly kind: 'list' }>;

/** Any number of a list of choices. */
function ListInput(props: FieldInputsProps & { readonly field: List }): VNode {
  const { field, card, drafts, draft } = props;
  const { id, name, path, isNeeded, help, choices } = field;
  return (
    <fieldset id={id} tabIndex={-1}>
      <legend>
        <FieldName name={name} label={labelOf(card, path)} />
        {!isNeeded && <span class="optional"> (optional)</span>}
      </legend>
      {choices.map(({ value, label }, place) => (
        <label key={value} class="listed">
          <input
            type="checkbox"
            id={choiceId(field, place)}
            checked={isListed(field, place, drafts)}
            onChange={(event) => draft(choiceId(field, place), event.currentTarget.checked)}
          />{' '}
          <InertLine text={label} max={CHOICE_CHARS} />
        </label>
      ))}
      {help !== undefined && (
        <p class="help">
          <InertBlock text={help} charsMax={HELP_CHARS} />
        </p>
      )}
    </fieldset>
  );
}

type Single = Exclude<Field, { readonly kind: 'object' | 'list' }>;

interface SingleProps extends FieldInputsProps {
  readonly field: Single;
}

function LabelledInput(props: SingleProps): VNode {
  const { field, card, said } = props;
  const { id, name, path, isNeeded, help } = field;
  const meaning = amountAt(card, said, path);
  return (
    <div class="form-field">
      <label for={id}>
        <FieldName name={name} label={labelOf(card, path)} />
        {!isNeeded && <span class="optional"> (optional)</span>}
      </label>
      <Input {...props} />
      {help !== undefined && (
        <p id={`${id}-help`} class="help">
          <InertBlock text={help} charsMax={HELP_CHARS} />
        </p>
      )}
      {path === card?.amount?.path && (
        <p class="help amount-meaning" aria-live="polite">
          {meaning !== undefined && '= '}
          <b>
            <InertLine text={meaning ?? ''} max={100} />
          </b>
        </p>
      )}
    </div>
  );
}

interface FieldNameProps {
  readonly name: string;
  readonly label: string;
}

/** The exact name stands beside what people read in its place. */
function FieldName({ name, label }: FieldNameProps): VNode {
  const isOther = label !== name && !label.endsWith(`.${name}`);
  return (
    <>
      {isOther && (
        <>
          <InertLine text={label} max={80} />{' '}
        </>
      )}
      <span class={isOther ? 'argument-name' : ''}>
        <InertLine text={name} max={80} />
      </span>
    </>
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
  return inertText(typeof choice === 'string' ? choice : JSON.stringify(choice), CHOICE_CHARS);
}
