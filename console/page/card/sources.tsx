/** What a proposal rests on: texts from outside, which nobody has checked. */
import type { VNode } from 'preact';
import type { Grounds } from '../data/api-types.js';
import { dateTime } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { ResultText } from '../parts/result-text.js';

const WARNING =
  'Texts that the model had read before. These texts come from outside and are unchecked; they may try to talk you into something.';

export interface SourcesProps {
  readonly grounds: Grounds;
  readonly runId: string;
}

export function Sources({ grounds: { sources, more }, runId }: SourcesProps): VNode {
  const nothing = 'The model had read nothing but its task.';
  return (
    <section>
      <h3>Grounds of the proposal</h3>
      <p class="help">{sources.length === 0 ? nothing : WARNING}</p>
      {more && <p class="help">There are older ones, which the run shows.</p>}
      <ol class="sources">
        {sources.map((source, place) => (
          <SourceRow key={place} source={source} runId={runId} />
        ))}
      </ol>
    </section>
  );
}

interface SourceRowProps {
  readonly source: Grounds['sources'][number];
  readonly runId: string;
}

function SourceRow({ source, runId }: SourceRowProps): VNode {
  const { status, at, content } = source;
  return (
    <li class="source">
      <details>
        <summary>
          <span class="badge untrusted">untrusted</span> <SourceName source={source} />
          {status === 'error' && <span class="badge error">failed</span>}
          <span class="source-time">{dateTime(at)}</span>
          <span class="source-preview">
            <InertLine text={content.text} max={120} />
          </span>
        </summary>
        <div class="source-text">
          <ResultText excerpt={content} runId={runId} />
        </div>
      </details>
    </li>
  );
}

function SourceName({ source: { kind, tool, part } }: Pick<SourceRowProps, 'source'>): VNode {
  if (kind === 'user') return <>Message of the user</>;
  if (part === undefined) return <InertLine text={tool ?? 'tool'} max={100} />;
  return (
    <>
      <InertLine text={part.origin} max={20} />
      {` of cycle ${part.cycle}, by `}
      <InertLine text={part.by} max={60} />
    </>
  );
}
