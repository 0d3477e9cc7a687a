/** What a standing grant allows, in words. */
import type { VNode } from 'preact';
import type { Ask } from '../data/api-types.js';
import { now } from '../data/connection.js';
import { dateTime, plural } from '../parts/format.js';
import { ConditionList } from '../parts/grant-words.js';
import { InertLine } from '../parts/inert.js';
import { ceilingOf, type Grant } from './use-grant.js';

export interface GrantSummaryProps {
  readonly grant: Grant;
  /** Amounts and recipients that may be anything. */
  readonly unbound: readonly string[];
  readonly card: Ask['card'];
  /** What no condition can bind. */
  readonly alarm: string | undefined;
  /** With its conditions. */
  readonly isListed?: boolean;
}

export function GrantSummary({
  grant,
  unbound,
  card,
  alarm,
  isListed = false,
}: GrantSummaryProps): VNode {
  const { matcher, uses, expiresInMs } = grant;
  const ceiling = ceilingOf(card, matcher.when, uses);
  const more = uses === 1 ? 'one more call' : `up to ${plural(uses, 'more call')}`;
  const end = dateTime(now() + expiresInMs);
  return (
    <div>
      <p tabIndex={-1}>
        {'This call is approved. After it, '}
        <b>
          {more} of <InertLine text={matcher.tool} max={100} />
        </b>
        {' in this run may go ahead '}
        <b>without anybody being asked</b>
        {`, until about ${end}, whenever all of this holds${isListed ? ':' : '.'}`}
      </p>
      {isListed && <ConditionList when={matcher.when} card={card} />}
      {unbound.length > 0 && (
        <p class="alarm">
          Without any bound: <InertLine text={unbound.join(', ')} />.
        </p>
      )}
      {ceiling !== undefined && (
        <p>
          {'Together these later calls can take up to '}
          <b>
            <InertLine text={ceiling} max={100} />
          </b>
          .
        </p>
      )}
      {alarm !== undefined && <p class="alarm">{alarm}</p>}
    </div>
  );
}
