/** What became of an action that was decided: paid, refused and why, in doubt, or not begun yet. */
import type { ComponentChildren, VNode } from 'preact';
import type { Ask, Json } from '../data/api-types.js';
import { amountsOf } from '../parts/amount-words.js';
import { changesBetween } from '../parts/changes.js';
import { Fact } from '../parts/fact.js';
import { dateTime, plural, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { inboxPath } from '../parts/paths.js';
import { ResultText } from '../parts/result-text.js';
import { ChangeTable } from './change-table.js';

type Receipt = NonNullable<Ask['receipt']>;

/** Always there, because screen readers tell only changes of what they know; in the tab order, because a long one scrolls. */
export function ReceiptSection({ ask }: { readonly ask: Ask }): VNode {
  return (
    <section
      class="receipt"
      role="status"
      aria-label="Outcome of the action"
      tabIndex={0}
      hidden={isHidden(ask)}
    >
      {ask.outcome === 'pending' ? <SecondPerson ask={ask} /> : <Fate ask={ask} />}
    </section>
  );
}

function isHidden({ outcome, receipt, kind, votes = [] }: Ask): boolean {
  return outcome === 'pending' ? votes.length === 0 : receipt === undefined && kind !== 'input';
}

function SecondPerson({ ask }: { readonly ask: Ask }): VNode {
  const { quorum, votes = [] } = ask;
  const wanted = Math.max(0, quorum - votes.length);
  const more = wanted === 1 ? 'one more person' : `${wanted} more people`;
  return (
    <>
      <h3>Waiting for {more}</h3>
      <p>
        {`${votes.length} of ${quorum} ${votes.length === 1 ? 'has' : 'have'} agreed: `}
        <InertLine text={votes.map(({ by }) => by).join(', ')} />. Nothing is done before.
      </p>
    </>
  );
}

function Fate({ ask }: { readonly ask: Ask }): VNode | null {
  const { receipt, kind, by, outcome } = ask;
  if (kind === 'input') {
    return (
      <>
        <h3>{words(outcome).replace(/^./, (letter) => letter.toUpperCase())}</h3>
        {by.length > 0 && (
          <p>
            The answer of <InertLine text={by.join(', ')} /> counts.
          </p>
        )}
        {receipt?.content !== undefined && (
          <ResultText excerpt={receipt.content} runId={ask.runId} />
        )}
      </>
    );
  }
  if (receipt === undefined) return null;
  const { corrected, next } = receipt;
  return (
    <>
      <h3 class={`fate ${receipt.state}`}>{titleOf(receipt)}</h3>
      <p>{meaningOf(receipt)}</p>
      {corrected !== undefined && <Became ask={ask} corrected={corrected} />}
      {next !== undefined && <Next ask={ask} next={next} />}
      <Facts ask={ask} receipt={receipt} />
    </>
  );
}

const TITLES: { readonly [state in Receipt['state']]: string } = {
  waits: 'Approved, not begun',
  asked_again: 'Asked about again',
  under_way: 'Under way',
  done: 'Done',
  refused: 'Refused: nothing happened',
  failed: 'Failed',
  in_doubt: 'In doubt',
  not_done: 'Not done',
};

function titleOf({ state, corrected }: Receipt): string {
  return corrected !== undefined && state === 'waits' ? 'Corrected, not begun' : TITLES[state];
}

/** Why nothing happened, by the code of the result. */
const REFUSED: { readonly [code: string]: string } = {
  frozen: 'A freeze covers it.',
  limit_exceeded: 'A limit of the tool does not let it pass.',
  tool_unavailable: 'No worker has the tool, or the tool says that it is away.',
  permission_denied: 'The approval did not carry it.',
  hook_denied: 'A hook of the agent forbids it.',
  tool_not_allowed: 'The run may not use the tool.',
  invalid_arguments: 'The tool does not take these arguments.',
  approval_rejected: 'A person said no.',
  budget_exceeded: 'The budget of the run does not let it pass.',
};

function meaningOf({ state, code = '' }: Receipt): string {
  switch (state) {
    case 'waits':
      return 'The run has the decision and has not begun the call.';
    case 'asked_again':
      return 'Another question about it is open: this decision alone does not carry it.';
    case 'under_way':
      return 'The call was begun; nobody has heard how it ended.';
    case 'done':
      return 'The tool said that it was done.';
    case 'refused':
      return REFUSED[code] ?? 'The run refused it.';
    case 'failed':
      return 'The tool said that nothing happened.';
    case 'in_doubt':
      return 'The call was begun, and nobody knows whether it happened.';
    case 'not_done':
      return code === '' ? 'Nothing was begun.' : `Nothing was begun: ${words(code)}.`;
  }
}

interface BecameProps {
  readonly ask: Ask;
  readonly corrected: NonNullable<Receipt['corrected']>;
}

/** The new values beside the old. */
function Became({ ask, corrected: { by, original, corrected } }: BecameProps): VNode {
  const changes = changesBetween(original.args as Json, corrected.args as Json);
  const card = original.tool === corrected.tool ? ask.card : undefined;
  return (
    <>
      <p>
        Corrected by <InertLine text={by.join(', ')} />
        {original.tool !== corrected.tool && (
          <>
            {' to another tool: '}
            <del>
              <InertLine text={original.tool} />
            </del>{' '}
            <ins>
              <InertLine text={corrected.tool} />
            </ins>
          </>
        )}
        .
      </p>
      <ChangeTable
        changes={changes}
        runId={ask.runId}
        columns={['Field', 'Asked', 'Became']}
        shown={(change) =>
          amountsOf(card, { before: original.args, after: corrected.args }, change)
        }
      />
    </>
  );
}

interface NextProps {
  readonly ask: Ask;
  readonly next: NonNullable<Receipt['next']>;
}

function Next({ ask, next }: NextProps): VNode {
  const { askId, outcome, quorum, kind } = next;
  return (
    <p>
      <a class="next-question" href={inboxPath(askId)}>
        {kind === 'outcome' ? 'The question whether it happened' : 'The question about it now'}
      </a>
      {`: ${outcome === 'pending' ? missing(ask.nextVotes, quorum, kind) : words(outcome)}.`}
    </p>
  );
}

/** What is still missing, as far as the run says. */
function missing(votes: Ask['nextVotes'], quorum: number, kind: string): string {
  if (kind === 'outcome') return 'a person has to say what became of it';
  if (votes === undefined) return `open, ${plural(quorum, 'approval')} wanted`;
  const agreed = votes.filter(({ decision }) => decision === 'approve').length;
  const left = Math.max(0, quorum - agreed);
  return `${agreed} of ${quorum} approved, ${plural(left, 'approval')} missing`;
}

interface FactsProps {
  readonly ask: Ask;
  readonly receipt: Receipt;
}

function Facts({ ask, receipt }: FactsProps): VNode {
  const { reference, key, content, at: since } = receipt;
  const fact = (name: string, value: ComponentChildren): VNode => <Fact name={name}>{value}</Fact>;
  return (
    <dl class="facts">
      {reference !== undefined &&
        fact(
          'Reference',
          <b>
            <InertLine text={reference} />
          </b>,
        )}
      {since !== undefined && fact('When', dateTime(since))}
      {key !== undefined &&
        fact(
          'Key',
          <code>
            <InertLine text={key} />
          </code>,
        )}
      {content !== undefined && fact('Said', <ResultText excerpt={content} runId={ask.runId} />)}
    </dl>
  );
}
