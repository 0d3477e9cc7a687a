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
    if (kind !== 'tenant' && name.trim() === '') return complain('What is to be frozen?');
    if (reason.trim() === '') return complain('Say why: models that meet the freeze are told.');
    const wanted = { scope: scopeOf(kind, name.trim()), reason: reason.trim() };
    void freeze({ ...wanted, ...(forMs > 0 && { forMs }) }).then((done) => {
      if (done) setDraft(NOTHING);
    });
  };
  return (
    <Form class="freeze-form panel" label="Freeze" submit={submit}>
      <div class="form-field">
        <label for="freeze-kind">What</label>
        <select
          id="freeze-kind"
          value={kind}
          onChange={(event) => write({ kind: textIn(event) as Kind })}
        >
          {KINDS.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </div>
      <div class="form-field" hidden={kind === 'tenant'}>
        <label for="freeze-name">
          {kind === 'agent' ? 'Name of the agent' : 'Name of the tool, or its beginning and *'}
        </label>
        <input
          id="freeze-name"
          type="text"
          maxLength={128}
          autocomplete="off"
          spellcheck={false}
          value={name}
          onInput={(event) => write({ name: textIn(event) })}
        />
      </div>
      <div class="form-field">
        <label for="freeze-reason">Why</label>
        <input
          id="freeze-reason"
          type="text"
          maxLength={300}
          autocomplete="off"
          value={reason}
          onInput={(event) => write({ reason: textIn(event) })}
        />
      </div>
      <div class="form-field">
        <label for="freeze-for">For how long</label>
        <select
          id="freeze-for"
          value={String(forMs)}
          onChange={(event) => write({ forMs: Number(textIn(event)) })}
        >
          {TIMES.map(([ms, words]) => (
            <option key={ms} value={String(ms)}>
              {words}
            </option>
          ))}
        </select>
      </div>
      <div class="choices">
        <button type="submit" class="button danger">
          Freeze
        </button>
      </div>
    </Form>
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
