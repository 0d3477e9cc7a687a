/**
 * Answering the server of a tool: by a form made from its schema, by its choices, or at an address.
 * Invariant: an address is shown as text. Nothing here opens it.
 */
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Ask } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { Form } from '../parts/form.js';
import { InertLine } from '../parts/inert.js';
import { inertText } from '../parts/inert-text.js';
import type { Desk } from './desk.js';
import { choicesOf, formFieldsOf, readAnswer } from './elicitation-fields.js';
import { FieldInputs } from './field-inputs.js';
import type { Drafts } from './read-fields.js';

const CHOICE_CHARS_MAX = 200;
const TEXT_CHARS_MAX = 2_000;

export type Elicited = NonNullable<Ask['elicitation']>;

export interface ElicitationFormProps {
  readonly elicitation: Elicited;
  readonly desk: Desk;
  readonly begun: (isBegun: boolean) => void;
}

export function ElicitationForm(props: ElicitationFormProps): VNode {
  const { connector, problem, again, mode } = props.elicitation;
  return (
    <>
      <p class="help">
        The server <InertLine text={connector} max={80} /> asks. Your answer goes to that server.
        {again === true && ' An answer begins the call anew.'}
      </p>
      {problem !== undefined && (
        <p class="alarm">
          The answer before did not fit: <InertLine text={problem} max={300} />
        </p>
      )}
      {mode === 'url' ? <Address {...props} /> : <Fields {...props} />}
    </>
  );
}

function Address({ elicitation: { url = '' }, desk }: ElicitationFormProps): VNode {
  return (
    <>
      <p>
        The server wants you to open this address. Nothing here opens it:{' '}
        <code class="elicited-address">
          <InertLine text={url} max={TEXT_CHARS_MAX} />
        </code>
      </p>
      <div class="choices">
        <Button
          label="I have been there"
          kind="primary"
          press={() => desk.answer({ action: 'accept' })}
        />
        <Refusals desk={desk} />
      </div>
    </>
  );
}

function Fields({ elicitation: { schema }, desk, begun }: ElicitationFormProps): VNode {
  const [field] = useState(() => formFieldsOf(schema));
  const [drafts, setDrafts] = useState<Drafts>({});
  const choices = choicesOf(schema);
  if (choices !== undefined) {
    const { name, named } = choices;
    const buttons = named.map(({ value, label }) => (
      <Button
        key={value}
        label={inertText(label, CHOICE_CHARS_MAX)}
        kind="primary"
        press={() => desk.answer({ action: 'accept', content: { [name]: value } })}
      />
    ));
    return (
      <Group label="Choices">
        {buttons}
        <Refusals desk={desk} />
      </Group>
    );
  }
  const submit = (): void => {
    const read = readAnswer(schema, field, drafts);
    if (read.ok) return void desk.answer({ action: 'accept', content: read.value });
    document.getElementById(read.fieldId)?.focus();
    desk.complain(read.fault);
  };
  return (
    <Form label="Answer" submit={submit}>
      <FieldInputs
        field={field}
        drafts={drafts}
        draft={(id, said) => {
          setDrafts((now) => ({ ...now, [id]: said }));
          begun(true);
        }}
        card={undefined}
        said={undefined}
      />
      <div class="choices">
        <button type="submit" class="button primary">
          Answer
        </button>
        <Refusals desk={desk} />
      </div>
    </Form>
  );
}

interface GroupProps {
  readonly label: string;
  readonly children: ComponentChildren;
}

function Group({ label, children }: GroupProps): VNode {
  return (
    <div class="choices" role="group" aria-label={label}>
      {children}
    </div>
  );
}

function Refusals({ desk }: Pick<ElicitationFormProps, 'desk'>): VNode {
  return (
    <>
      <Button label="Decline" kind="danger" press={() => desk.answer({ action: 'decline' })} />
      <Button label="Cancel the question" press={() => desk.answer({ action: 'cancel' })} />
    </>
  );
}
