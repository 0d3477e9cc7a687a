/**
 * Correcting an action: other arguments for its tool, by a form made from the tool's schema or as JSON, or
 * another tool. What comes out is checked and asked about anew; nothing of it is decided here.
 */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Ask, Grounds } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { leapBetween, type Leap } from '../parts/amount-words.js';
import { isSame } from '../parts/changes.js';
import { Form, textIn } from '../parts/form.js';
import { InertLine } from '../parts/inert.js';
import { inertText } from '../parts/inert-text.js';
import { ChangeList } from './change-list.js';
import type { Desk } from './desk.js';
import { FieldInputs } from './field-inputs.js';
import { useRestoredArgs } from './restored-args.js';
import { JSON_ID, useCorrection, type Corrected, type Correcting } from './use-correction.js';

const MEANING =
  'The corrected action is checked anew, and counts as approved by you alone: earlier votes do not count for it. Where several people must agree, the others are asked about it.';

export interface CorrectionFormProps {
  readonly ask: Ask;
  readonly desk: Desk;
  readonly grounds: Grounds;
}

export function CorrectionForm({ ask, desk, grounds }: CorrectionFormProps): VNode {
  const found = useRestoredArgs(ask);
  switch (found.state) {
    case 'fetching':
      return (
        <p class="help" tabIndex={-1}>
          Fetching the arguments …
        </p>
      );
    case 'too long':
      return <NoForm why="These arguments are too long to be corrected here." desk={desk} />;
    case 'not fetched':
      return (
        <NoForm
          why="The desk did not give the arguments. Go back and press Correct again."
          desk={desk}
        />
      );
    case 'there':
      return <Editor ask={ask} args={found.args} grounds={grounds} desk={desk} />;
  }
}

interface NoFormProps {
  readonly why: string;
  readonly desk: Desk;
}

function NoForm({ why, desk }: NoFormProps): VNode {
  return (
    <>
      <p tabIndex={-1}>{why}</p>
      <Button label="Back" press={() => desk.open(undefined)} />
    </>
  );
}

interface EditorProps extends Corrected {
  readonly desk: Desk;
}

function Editor({ ask, args, grounds, desk }: EditorProps): VNode {
  const correcting = useCorrection({ ask, args, grounds });
  const [reason, setReason] = useState('');
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.querySelector<HTMLElement>(FIRST)?.focus(), []);
  const { tool, isSameTool, read } = correcting;
  const now = read();
  const card = cardFor(ask, correcting);
  // Sends nothing by itself: a second word is asked for, of exactly what is sent then.
  const [doubted, setDoubted] = useState<string>();
  const wording = JSON.stringify(now.ok ? (now.value ?? {}) : null);
  const leap = now.ok && isSameTool ? leapBetween(card, args, now.value) : undefined;
  const isDoubted = leap !== undefined && doubted === wording;
  const send = (): void => {
    if (!now.ok) return;
    const text = reason.trim();
    const said = { args: now.value ?? {}, ...(text !== '' && { reason: text }) };
    void desk.decide(
      isSameTool ? { decision: 'modify', ...said } : { decision: 'replace', tool, ...said },
    );
  };
  const submit = (): void => {
    if (!now.ok) {
      document.getElementById(now.fieldId)?.focus();
      return desk.complain(now.fault);
    }
    if (isSameTool && isSame(now.value, args)) return desk.complain('Nothing is changed.');
    return leap === undefined ? send() : setDoubted(wording);
  };
  return (
    <Form class="correct" label="Correct" submit={submit}>
      <p class="help">{MEANING}</p>
      <ToolChoice ask={ask} grounds={grounds} correcting={correcting} />
      <div ref={place}>
        <Arguments ask={ask} correcting={correcting} />
      </div>
      <div class="preview" aria-live="polite">
        {now.ok && isSameTool && <ChangeList before={args} after={now.value} card={card} />}
      </div>
      <label for="correct-reason">Reason (optional)</label>
      <input
        id="correct-reason"
        type="text"
        maxLength={2_000}
        autocomplete="off"
        value={reason}
        onInput={(event) => setReason(textIn(event))}
      />
      {isDoubted && <LeapQuestion leap={leap} send={send} change={() => setDoubted(undefined)} />}
      <div class="choices" hidden={isDoubted}>
        <button type="submit" class="button primary">
          Send the correction
        </button>
        <Button label="Back" press={() => desk.open(undefined)} />
      </div>
    </Form>
  );
}

/** What a tool says of its card is about its own arguments. */
function cardFor(ask: Ask, { isSameTool }: Correcting): Ask['card'] {
  return isSameTool ? ask.card : undefined;
}

interface LeapQuestionProps {
  readonly leap: Leap;
  readonly send: () => void;
  readonly change: () => void;
}

function LeapQuestion({ leap: { path, before, after }, send, change }: LeapQuestionProps): VNode {
  const words = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => words.current?.focus(), []);
  return (
    <div class="confirm" role="group" aria-label="Confirm the amount">
      <p class="alarm" tabIndex={-1} ref={words}>
        <InertLine text={path} max={80} /> becomes{' '}
        <b>
          <InertLine text={after} max={100} />
        </b>{' '}
        instead of{' '}
        <b>
          <InertLine text={before} max={100} />
        </b>
        : a difference of more than a factor of two, or of currency. Is that what you mean?
      </p>
      <div class="choices">
        <Button label="Send it all the same" kind="danger" press={send} />
        <Button label="Change it" press={change} />
      </div>
    </div>
  );
}

const FIRST = 'input, textarea, select';

interface PartProps {
  readonly ask: Ask;
  readonly correcting: Correcting;
}

function Arguments({ ask, correcting }: PartProps): VNode {
  const { field, drafts, draft, json, read, writeJson, editAsJson } = correcting;
  const now = read();
  return (
    <>
      {json === undefined ? (
        <FieldInputs
          key={correcting.tool}
          field={field}
          drafts={drafts}
          draft={draft}
          card={cardFor(ask, correcting)}
          said={now.ok ? now.value : undefined}
        />
      ) : (
        <textarea
          id={JSON_ID}
          rows={10}
          spellcheck={false}
          class="code"
          aria-label="Arguments as JSON"
          value={json}
          onInput={(event) => writeJson(textIn(event))}
        />
      )}
      <label class="inline" for="as-json">
        <input
          id="as-json"
          type="checkbox"
          checked={json !== undefined}
          onChange={(event) => editAsJson(event.currentTarget.checked)}
        />{' '}
        Edit as JSON
      </label>
    </>
  );
}

interface ToolChoiceProps extends PartProps {
  readonly grounds: Grounds;
}

function ToolChoice({ ask, grounds: { otherTools }, correcting }: ToolChoiceProps): VNode {
  const names = [ask.tool ?? '', ...otherTools.map(({ name }) => name)];
  return (
    <div class="form-field" hidden={otherTools.length === 0}>
      <label for="correct-tool">Tool</label>
      <select
        id="correct-tool"
        value={correcting.tool}
        onChange={(event) => correcting.choose(textIn(event))}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {inertText(name)}
          </option>
        ))}
      </select>
    </div>
  );
}
