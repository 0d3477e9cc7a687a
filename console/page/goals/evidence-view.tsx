/** What stands behind an id of evidence: the call with its row of the ledger, the check, the answer of a person. */
import type { VNode } from 'preact';
import { pathOf } from '../data/api.js';
import type { Evidence } from '../data/api-types.js';
import { Fact } from '../parts/fact.js';
import { dateTime, words } from '../parts/format.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { Names } from '../parts/names.js';
import { goalPath, inboxPath, runPath } from '../parts/paths.js';
import { Readable } from '../parts/readable.js';
import { ResultText } from '../parts/result-text.js';
import { useTitle } from '../parts/use-title.js';
import { refusalText, useFetched } from '../parts/use-fetched.js';

const KINDS: { readonly [kind in Evidence['kind']]: string } = {
  call: 'A call',
  check: 'A check of the goal',
  effect: 'An effect',
  ask: 'The answer of a person',
};

interface EvidenceViewProps {
  readonly goalId: string;
  readonly evidenceId: string;
}

export function EvidenceView({ goalId, evidenceId }: EvidenceViewProps): VNode {
  useTitle('Evidence');
  const query = new URLSearchParams({ id: evidenceId }).toString();
  const path = `${pathOf('goals', goalId, 'evidence')}?${query}`;
  const { value, refusal } = useFetched<Evidence>(path);
  return (
    <article class="run" aria-label="Evidence">
      <p class="run-links">
        <a href={goalPath(goalId)}>
          ← <InertLine text={goalId} max={96} />
        </a>
      </p>
      <div class="card-title">
        <h1>
          <InertLine text={evidenceId} max={300} />
        </h1>
      </div>
      {value !== undefined && <Found evidence={value} goalId={goalId} />}
      {value === undefined && (
        <p class="empty quiet" role="status">
          {refusal === undefined
            ? 'Fetching the evidence …'
            : refusalText(refusal, 'No evidence of this goal has this id.')}
        </p>
      )}
    </article>
  );
}

function Found({
  evidence,
  goalId,
}: {
  readonly evidence: Evidence;
  readonly goalId: string;
}): VNode {
  const { kind, runId, cycle, at, tool, args, content, ledger, check, ask } = evidence;
  return (
    <>
      <dl class="facts">
        <Fact name="Kind">{KINDS[kind]}</Fact>
        <Fact name={runId === goalId ? 'Goal' : 'Run'}>
          <a href={runId === goalId ? goalPath(runId) : runPath(runId)}>
            <InertLine text={runId} max={128} />
          </a>
        </Fact>
        {cycle !== undefined && <Fact name="Cycle">{cycle}</Fact>}
        {at !== undefined && <Fact name="When">{dateTime(at)}</Fact>}
        {tool !== undefined && (
          <Fact name="Tool">
            <InertLine text={tool} max={128} />
          </Fact>
        )}
        {check !== undefined && <CheckFacts check={check} />}
        {ask !== undefined && <AskFacts ask={ask} />}
      </dl>
      {ledger !== undefined && (
        <section>
          <h2>Row of the ledger</h2>
          <dl class="facts">
            <Fact name="State">{ledger.state}</Fact>
            <Fact name="Told by">{ledger.source ?? 'nobody yet'}</Fact>
            <Fact name="Attempt">{ledger.attempt}</Fact>
            <Fact name="Key">
              <code>
                <InertLine text={ledger.key} max={300} />
              </code>
            </Fact>
          </dl>
        </section>
      )}
      {args !== undefined && (
        <section>
          <h2>Arguments, which the worker put in</h2>
          <Readable value={args} runId={runId} />
        </section>
      )}
      {content !== undefined && (
        <section>
          <h2>Result</h2>
          <p class="help">A text from outside, which nobody has checked.</p>
          <ResultText excerpt={content} runId={runId} />
        </section>
      )}
    </>
  );
}

function CheckFacts({ check }: { readonly check: NonNullable<Evidence['check']> }): VNode {
  const { name, n, known, value, best, because, digest } = check;
  return (
    <>
      <Fact name="Check">
        <InertLine text={`${name}, run ${n}`} max={120} />
      </Fact>
      <Fact name="Value">{known ? (value ?? 'no number') : 'unknown'}</Fact>
      {best !== undefined && <Fact name="Best so far">{best}</Fact>}
      {because !== undefined && (
        <Fact name="Because">
          <InertLine text={because} max={500} />
        </Fact>
      )}
      {digest !== undefined && (
        <Fact name="Receipt">
          <code>{digest}</code>
        </Fact>
      )}
    </>
  );
}

function AskFacts({ ask }: { readonly ask: NonNullable<Evidence['ask']> }): VNode {
  const { askId, question, outcome, by, reason } = ask;
  return (
    <>
      <Fact name="Question">
        <a href={inboxPath(askId)}>
          <InertLine text={question ?? askId} max={300} />
        </a>
      </Fact>
      <Fact name="Outcome">{words(outcome)}</Fact>
      {by.length > 0 && (
        <Fact name="By">
          <Names names={by} />
        </Fact>
      )}
      {reason !== undefined && (
        <Fact name="Reason">
          <InertBlock text={reason} />
        </Fact>
      )}
    </>
  );
}
