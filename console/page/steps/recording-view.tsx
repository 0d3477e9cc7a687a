/** The page of a desk that shows one recorded run, from a file. */
import type { VNode } from 'preact';
import type { Person } from '../data/api-types.js';
import { InertLine } from '../parts/inert.js';
import { useTitle } from '../parts/use-title.js';
import { StepsPanel } from './steps-panel.js';

export interface RecordingViewProps {
  readonly recording: NonNullable<Person['recording']>;
  readonly step: number | undefined;
}

export function RecordingView({ recording: { runId, file }, step }: RecordingViewProps): VNode {
  useTitle('A recorded run');
  return (
    <article class="run" aria-label="A recorded run">
      <header class="run-head">
        <h1>
          <InertLine text={runId} max={128} />
        </h1>
        <p class="notice stopped">
          Read-only: a recorded run, from the file <InertLine text={file} max={200} />. Nothing here
          changes a run, calls a model or calls a tool.
        </p>
      </header>
      <StepsPanel runId={runId} step={step} />
    </article>
  );
}
