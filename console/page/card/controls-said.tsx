/** What the business controls say of an action: what was done before, and what is used up of its limits. */
import type { VNode } from 'preact';
import { countedIn, type Counted } from '../../../pure/headline.js';
import type { Ask } from '../data/api-types.js';
import { dateTime, whole, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { runPath } from '../parts/paths.js';

type Repeats = NonNullable<Ask['repeats']>;
type Outlook = NonNullable<Ask['limits']>;
type Limit = Outlook['limits'][number];

interface RepeatsProps {
  readonly ask: Ask;
  readonly repeats: Repeats;
}

export function RepeatsSection({ ask, repeats }: RepeatsProps): VNode {
  const { identity, earlier, more } = repeats;
  const { all } = countedIn(ask);
  return (
    <section class="repeats alarm-box">
      <h3>This was done before</h3>
      <p>
        For <InertLine text={identity.join(', ')} />:
      </p>
      <ul>
        {earlier.map((one) => (
          <Earlier key={`${one.runId} ${one.at}`} earlier={one} counted={all} />
        ))}
        {more === true && <li>and more</li>}
      </ul>
    </section>
  );
}

interface EarlierProps {
  readonly earlier: Repeats['earlier'][number];
  readonly counted: Counted;
}

function Earlier({ earlier, counted }: EarlierProps): VNode {
  const { at, state, amount, runId, approvedBy } = earlier;
  return (
    <li>
      {`${dateTime(at)}: ${words(state)}`}
      {amount !== undefined && `, amount ${counted(amount)}`}
      {', by run '}
      <a href={runPath(runId)}>
        <InertLine text={runId} max={80} />
      </a>
      {approvedBy.length > 0 && (
        <>
          {', on the word of '}
          <InertLine text={approvedBy.join(', ')} />
        </>
      )}
    </li>
  );
}

const SCOPES: { readonly [scope in Limit['scope']]: string } = {
  perCustomerAndDay: 'For this customer today',
  perDay: 'Today',
  inAll: 'In all',
};

interface LimitsProps {
  readonly ask: Ask;
  readonly outlook: Outlook;
}

/** As it was when the question was first shown; what binds is looked at again when it is done. */
export function LimitsSection({ ask, outlook }: LimitsProps): VNode {
  const { amount, customer, limits, exceeded } = outlook;
  const counted = countedIn(ask);
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
          <LimitRows key={limit.scope} limit={limit} takes={amount} counted={counted} />
        ))}
      </ul>
    </section>
  );
}

interface LimitRowsProps {
  readonly limit: Limit;
  readonly takes: Outlook['amount'];
  readonly counted: ReturnType<typeof countedIn>;
}

function LimitRows({ limit, takes, counted: { own, all } }: LimitRowsProps): VNode {
  const { scope, amount, count, used } = limit;
  const name = SCOPES[scope];
  const words = { used: all, takes: own };
  const calls = { used: whole, takes: whole };
  return (
    <>
      {amount !== undefined && (
        <LimitRow name={name} used={used.amount} takes={takes} of={amount} words={words} />
      )}
      {count !== undefined && (
        <LimitRow name={`${name}, calls`} used={used.count} takes={1} of={count} words={calls} />
      )}
    </>
  );
}

interface LimitRowProps {
  readonly name: string;
  readonly used: number;
  readonly takes: number;
  readonly of: number;
  readonly words: { readonly used: Counted; readonly takes: Counted };
}

function LimitRow({ name, used, takes, of, words: said }: LimitRowProps): VNode {
  const text = `${said.used(used)} of ${said.used(of)} used, this takes ${said.takes(takes)}`;
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
