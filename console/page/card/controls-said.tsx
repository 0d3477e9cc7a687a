/** What the business controls say of an action: what was done before, and what is used up of its limits. */
import type { VNode } from 'preact';
import type { Ask } from '../data/api-types.js';
import { dateTime, whole, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { runPath } from '../parts/paths.js';

type Repeats = NonNullable<Ask['repeats']>;
type Outlook = NonNullable<Ask['limits']>;
type Limit = Outlook['limits'][number];

export function RepeatsSection({ repeats }: { readonly repeats: Repeats }): VNode {
  const { identity, earlier, more } = repeats;
  return (
    <section class="repeats alarm-box">
      <h3>This was done before</h3>
      <p>
        For <InertLine text={identity.join(', ')} />:
      </p>
      <ul>
        {earlier.map((one) => (
          <Earlier key={`${one.runId} ${one.at}`} earlier={one} />
        ))}
        {more === true && <li>and more</li>}
      </ul>
    </section>
  );
}

function Earlier({ earlier }: { readonly earlier: Repeats['earlier'][number] }): VNode {
  const { at, state, amount, runId, approvedBy } = earlier;
  return (
    <li>
      {`${dateTime(at)}: ${words(state)}`}
      {amount !== undefined && `, amount ${whole(amount)}`}
      {', by run '}
      <a href={runPath(runId)}>
        <InertLine text={runId} max={80} />
      </a>
      {', on the word of '}
      {approvedBy.length === 0 ? 'nobody' : <InertLine text={approvedBy.join(', ')} />}
    </li>
  );
}

const SCOPES: { readonly [scope in Limit['scope']]: string } = {
  perCustomerAndDay: 'For this customer today',
  perDay: 'Today',
  inAll: 'In all',
};

/** As it was when the call was proposed; what binds is looked at again when it is done. */
export function LimitsSection({ outlook }: { readonly outlook: Outlook }): VNode {
  const { amount, customer, limits, exceeded } = outlook;
  return (
    <section class={exceeded === true ? 'alarm-box' : ''}>
      <h3>
        Limits of the tool
        {customer !== undefined && (
          <>
            {' for '}
            <InertLine text={customer} max={100} />
          </>
        )}
      </h3>
      {exceeded === true && (
        <p class="alarm">This call is beyond the limits: an approval does not let it pass.</p>
      )}
      <ul class="limits">
        {limits.map((limit) => (
          <LimitRows key={limit.scope} limit={limit} takes={amount} />
        ))}
      </ul>
    </section>
  );
}

interface LimitRowsProps {
  readonly limit: Limit;
  readonly takes: Outlook['amount'];
}

function LimitRows({ limit, takes }: LimitRowsProps): VNode {
  const { scope, amount, count, used } = limit;
  const name = SCOPES[scope];
  return (
    <>
      {amount !== undefined && (
        <LimitRow name={name} used={used.amount} takes={takes} of={amount} />
      )}
      {count !== undefined && (
        <LimitRow name={`${name}, calls`} used={used.count} takes={1} of={count} />
      )}
    </>
  );
}

interface LimitRowProps {
  readonly name: string;
  readonly used: number;
  readonly takes: number;
  readonly of: number;
}

function LimitRow({ name, used, takes, of }: LimitRowProps): VNode {
  const text = `${whole(used)} of ${whole(of)} used, this takes ${whole(takes)}`;
  return (
    <li>
      <span class="limit-name">{name}</span>
      <span>{text}</span>
      <progress
        max={Math.max(1, of)}
        value={Math.min(of, used + takes)}
        aria-label={`${name}: ${text}`}
      />
    </li>
  );
}
