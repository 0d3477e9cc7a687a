/** What a tool returned: by its fields, where it is a JSON object or list. */
import type { VNode } from 'preact';
import { objectIn } from './json-value.js';
import { Readable } from './readable.js';
import { StoredText, type StoredTextProps } from './stored-text.js';

interface ResultTextProps extends StoredTextProps {
  readonly hasFailed?: boolean;
}

export function ResultText({ excerpt, runId, hasFailed = false }: ResultTextProps): VNode {
  const value = excerpt.blob === undefined && !hasFailed ? objectIn(excerpt.text) : undefined;
  if (value !== undefined) return <Readable value={value} runId={runId} />;
  return (
    <div class={hasFailed ? 'result failed' : 'result'}>
      <StoredText excerpt={excerpt} runId={runId} />
    </div>
  );
}
