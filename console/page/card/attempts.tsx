/** What is known of a call whose outcome is not: each time it was started, and what people have said of it. */
import { Fragment, type VNode } from 'preact';
import type { Attempt, Grounds } from '../data/api-types.js';
import { now } from '../data/connection.js';
import { Fact } from '../parts/fact.js';
import { dateTime, relative, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { RecoveryList } from '../parts/recovery.js';

const HELP = 'Look for the key at the service that the tool calls: every attempt was given it.';

export function Attempts({ grounds }: { readonly grounds: Grounds }): VNode | null {
  const { attempts, approvedBy } = grounds;
  if (attempts.length === 0) return null;
  const keys = [...new Set(attempts.map(({ key }) => key))];
  return (
    <section class="attempts">
      <h3>{attempts.length === 1 ? 'The attempt' : `${attempts.length} attempts`}</h3>
      <ol class="attempt-list">
        {attempts.map((attempt, place) => (
          <AttemptRow key={place} attempt={attempt} />
        ))}
      </ol>
      <dl class="facts">
        <Fact name="Key">
          {keys.map((name, place) => (
            <Fragment key={name}>
              {place > 0 && ', '}
              <code>
                <InertLine text={name} />
              </code>
            </Fragment>
          ))}
        </Fact>
        {approvedBy !== undefined && (
          <Fact name="Approved by">
            <InertLine text={approvedBy.join(', ')} />
          </Fact>
        )}
      </dl>
      <p class="help">{HELP}</p>
    </section>
  );
}

function AttemptRow({ attempt }: { readonly attempt: Attempt }): VNode {
  const { at, told, steps = [] } = attempt;
  return (
    <li>
      <b>{`Started ${dateTime(at)}`}</b>
      {` (${relative(at, now())}); `}
      {told === undefined ? (
        'nobody knows how it ended.'
      ) : (
        <>
          {`${toldWords(told.outcome)}, said `}
          <InertLine text={told.by.join(', ')} />
          {` on ${dateTime(told.at)}.`}
        </>
      )}
      {steps.length > 0 && <RecoveryList steps={steps} />}
    </li>
  );
}

function toldWords(outcome: string): string {
  if (outcome === 'happened') return 'it happened';
  return outcome === 'not_happened' ? 'it did not happen' : words(outcome);
}
