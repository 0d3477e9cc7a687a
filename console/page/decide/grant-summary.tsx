/** What a standing grant allows, in words. */
import type { VNode } from 'preact';
import { now } from '../data/connection.js';
import { dateTime, plural } from '../parts/format.js';
import { ConditionList } from '../parts/grant-words.js';
import { InertLine } from '../parts/inert.js';
import { ceilingsOf, type Grant } from './use-grant.js';

export interface GrantSummaryProps {
  readonly grant: Grant;
  /** Amounts and recipients that may be anything. */
  readonly unbound: readonly string[];
  /** What no condition can bind. */
  readonly alarm: string | undefined;
  /** With its conditions. */
  readonly isListed?: boolean;
}

export function GrantSummary({
  grant,
  unbound,
  alarm,
  isListed = false,
}: GrantSummaryProps): VNode {
  const { matcher, uses, expiresInMs } = grant;
  const ceilings = ceilingsOf(matcher.when, uses);
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
      {isListed && <ConditionList when={matcher.when} />}
      {unbound.length > 0 && (
        <p class="alarm">
          Without any bound: <InertLine text={unbound.join(', ')} />.
        </p>
      )}
      {ceilings.length > 0 && (
        <p>
          {'Together these later calls can take up to '}
          <b>{ceilings.join(', ')}</b>.
        </p>
      )}
      {alarm !== undefined && <p class="alarm">{alarm}</p>}
    </div>
  );
}
