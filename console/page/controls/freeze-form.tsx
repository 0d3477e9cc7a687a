/** Freezing tools, an agent, or everything that changes something. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Form, textIn } from '../parts/form.js';

const HOUR_MS = 3_600_000;
const TIMES: readonly (readonly [ms: number, words: string])[] = [
  [0, 'until somebody lifts it'],
  [HOUR_MS, '1 hour'],
  [8 * HOUR_MS, '8 hours'],
  [24 * HOUR_MS, '1 day'],
  [7 * 24 * HOUR_MS, '7 days'],
];

type Kind = 'tool' | 'agent' | 'tenant';
const KINDS: readonly (readonly [kind: Kind, words: string])[] = [
  ['tool', 'Tools by name'],
  ['agent', 'An agent'],
  ['tenant', 'Everything that changes something'],
];

export interface WantedFreeze {
  readonly scope:
    | { readonly kind: 'tool'; readonly pattern: string }
    | { readonly kind: 'agent'; readonly agent: string }
    | { readonly kind: 'tenant' };
  readonly reason: string;
  readonly forMs?: number;
}

export interface FreezeFormProps {
  /** False: it was refused. */
  readonly freeze: (wanted: WantedFreeze) => Promise<boolean>;
  readonly complain: (text: string) => void;
}

interface Draft {
  readonly kind: Kind;
  readonly name: string;
  readonly reason: string;
  readonly forMs: number;
}

const NOTHING: Draft = { kind: 'tool', name: '', reason: '', forMs: 0 };

export function FreezeForm({ freeze, complain }: FreezeFormProps): VNode {
  const [draft, setDraft] = useState(NOTHING);
  const { kind, name, reason, forMs } = draft;
  const write = (said: Partial<Draft>): void => setDraft({ ...draft, ...said });
  const submit = (): void => {
    if (kind !== 'tenant' && name.trim() === '') return complain('Name the tools or the agent.');
    if (reason.trim() === '') return complain('Say why: models that meet the freeze are told.');
    const wanted = { scope: scopeOf(kind, name.trim()), reason: reason.trim() };
    void freeze({ ...wanted, ...(forMs > 0 && { forMs }) }).then((done) => {
      if (done) setDraft(NOTHING);
    });
  };
  return (
    <Form class="freeze-form panel" label="Freeze" submit={submit}>
      <Choice
        id="freeze-kind"
        label="Scope"
        options={KINDS}
        value={kind}
        choose={(text) => write({ kind: text as Kind })}
      />
      <Words
        id="freeze-name"
        label={kind === 'agent' ? 'Name of the agent' : 'Name of the tool, or its beginning and *'}
        charsMax={128}
        value={name}
        isHidden={kind === 'tenant'}
        write={(text) => write({ name: text })}
      />
      <Words
        id="freeze-reason"
        label="Why"
        charsMax={300}
        value={reason}
        write={(text) => write({ reason: text })}
      />
      <Choice
        id="freeze-for"
        label="For how long"
        options={TIMES}
        value={forMs}
        choose={(text) => write({ forMs: Number(text) })}
      />
      <div class="choices">
        <button type="submit" class="button danger">
          Freeze
        </button>
      </div>
    </Form>
  );
}

interface WordsProps {
  readonly id: string;
  readonly label: string;
  readonly charsMax: number;
  readonly value: string;
  readonly isHidden?: boolean;
  readonly write: (text: string) => void;
}

function Words({ id, label, charsMax, value, isHidden = false, write }: WordsProps): VNode {
  return (
    <div class="form-field" hidden={isHidden}>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        maxLength={charsMax}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => write(textIn(event))}
      />
    </div>
  );
}

interface ChoiceProps {
  readonly id: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string | number, words: string])[];
  readonly value: string | number;
  readonly choose: (text: string) => void;
}

function Choice({ id, label, options, value: chosen, choose }: ChoiceProps): VNode {
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      <select id={id} value={String(chosen)} onChange={(event) => choose(textIn(event))}>
        {options.map(([value, words]) => (
          <option key={value} value={String(value)}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

function scopeOf(kind: Kind, name: string): WantedFreeze['scope'] {
  switch (kind) {
    case 'tool':
      return { kind, pattern: name };
    case 'agent':
      return { kind, agent: name };
    case 'tenant':
      return { kind };
  }
}
