/** Values as people read them: names and texts, each inert. */
import type { VNode } from 'preact';
import { plural } from './format.js';
import { InertBlock, InertLine } from './inert.js';
import { isBlob } from './json-value.js';
import { StoredText } from './stored-text.js';

const DEPTH_SHOWN = 5;
const ENTRIES_SHOWN = 60;
const DEEP_CHARS = 500;

export interface ReadableProps {
  readonly value: unknown;
  /** Whose texts the value may name. */
  readonly runId: string;
  readonly depth?: number;
}

export function Readable({ value, runId, depth = 0 }: ReadableProps): VNode {
  if (isBlob(value)) {
    return (
      <StoredText excerpt={{ text: '', blob: value.$blob, bytes: value.bytes }} runId={runId} />
    );
  }
  if (typeof value === 'string') return <TextValue text={value} />;
  if (typeof value !== 'object' || value === null) {
    return <span class="value plain">{JSON.stringify(value) ?? 'nothing'}</span>;
  }
  if (Object.keys(value).length === 0) {
    const name = Array.isArray(value) ? 'an empty list' : 'an empty object';
    return <span class="value none">{name}</span>;
  }
  if (depth >= DEPTH_SHOWN)
    return <InertBlock text={JSON.stringify(value)} charsMax={DEEP_CHARS} />;
  return <Fields value={value} runId={runId} depth={depth} />;
}

function Fields({
  value,
  runId,
  depth,
}: Required<ReadableProps> & { readonly value: object }): VNode {
  const entries = Object.entries(value);
  const hidden = entries.length - ENTRIES_SHOWN;
  const isList = Array.isArray(value);
  return (
    <>
      <dl class={isList ? 'fields list' : 'fields'}>
        {entries.slice(0, ENTRIES_SHOWN).map(([name, part]) => (
          <div class="field" key={name}>
            <dt>{isList ? Number(name) + 1 : <InertLine text={name} />}</dt>
            <dd>
              <Readable value={part} runId={runId} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
      {hidden > 0 && (
        <p class="cut">{`${plural(hidden, 'more entry', 'more entries')}: see the exact JSON.`}</p>
      )}
    </>
  );
}

function TextValue({ text }: { readonly text: string }): VNode {
  if (text === '') return <span class="value none">an empty text</span>;
  return (
    <span class="value">
      <InertBlock text={text} />
    </span>
  );
}
