/** How a run ended, and what it gave. */
import type { VNode } from 'preact';
import type { StoredText } from '../../../core/json/json.js';
import type { RunResult } from '../data/api-types.js';
import { words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { excerptOf } from '../parts/json-value.js';
import { Readable } from '../parts/readable.js';
import { StoredText as Stored } from '../parts/stored-text.js';

export interface ResultNoticeProps {
  readonly result: RunResult;
  readonly runId: string;
}

export function ResultNotice({ result, runId }: ResultNoticeProps): VNode {
  const { status, stopReason, detail, phase, nextSafeAction, ...given } = result;
  const { answer, output, partialOutput, budgetOverrun } = given;
  const why = [stopReason, detail, phase].filter((word) => word !== undefined && word !== status);
  return (
    <section class={`notice result ${status}`} aria-label="Result">
      <p>
        <b>{words(status)}</b>
        {why.length > 0 && `: ${why.map((word) => words(word ?? '')).join(', ')}`}
      </p>
      {nextSafeAction !== undefined && (
        <p>
          <b>Next safe action: </b>
          <InertLine text={nextSafeAction} max={500} />
        </p>
      )}
      {budgetOverrun === true && (
        <p>The run cost more than its budget: the vendor billed above its own bound.</p>
      )}
      {answer !== undefined && <Answer text={answer} runId={runId} />}
      {output !== undefined && <Readable value={output} runId={runId} />}
      {partialOutput !== undefined && <Answer text={partialOutput} runId={runId} />}
    </section>
  );
}

function Answer({ text, runId }: { readonly text: StoredText; readonly runId: string }): VNode {
  return (
    <div class="answer">
      <Stored excerpt={excerptOf(text)} runId={runId} />
    </div>
  );
}
