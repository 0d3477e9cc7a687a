/** What a standing grant allows, in words: for whoever is about to give one, and for whoever looks at a run. */
import type { ComponentChildren, VNode } from 'preact';
import { amountText } from '../../../pure/headline.js';
import type { Ask, GrantCondition, Json } from '../data/api-types.js';
import { InertLine } from './inert.js';
import { textOfJson } from './json-value.js';

interface ConditionsProps {
  /** What must hold of a call's arguments. */
  readonly when: readonly GrantCondition[];
  /** What the tool of the calls says of its card. */
  readonly card?: Ask['card'];
}

export function ConditionList({ when, card }: ConditionsProps): VNode {
  return (
    <ul class="conditions">
      {when.map((condition) => (
        <li key={condition.path}>
          <b>
            <InertLine text={condition.path} max={100} />
          </b>{' '}
          {conditionWords(condition)}
          {amountShown(condition, when, card)}
        </li>
      ))}
    </ul>
  );
}

/** An amount as people write it, where the condition has it otherwise. */
function amountShown(
  { path, equals, lte }: GrantCondition,
  when: readonly GrantCondition[],
  card: Ask['card'],
): ComponentChildren {
  const amount = card?.amount;
  const bound = (equals ?? lte) as Json | undefined;
  if (amount === undefined || path !== amount.path || bound === undefined) return null;
  const currency = when.find((one) => one.path === amount.currency)?.equals as Json | undefined;
  const text = amountText(amount, { [amount.currency]: currency ?? null }, bound);
  if (text === textOfJson(bound)) return null;
  return (
    <>
      {' ('}
      <InertLine text={text} max={60} />)
    </>
  );
}

function conditionWords({ equals, lte, gte, exists }: GrantCondition): ComponentChildren {
  const parts: ComponentChildren[] = [];
  if (equals !== undefined) parts.push(<>is exactly {valueShown(equals)}</>);
  if (gte !== undefined) parts.push(<>is at least {valueShown(gte)}</>);
  if (lte !== undefined) parts.push(<>is at most {valueShown(lte)}</>);
  if (exists !== undefined) parts.push(exists ? 'is given' : 'is not given');
  return parts.map((part, place) => (
    <>
      {place > 0 && ' and '}
      {part}
    </>
  ));
}

function valueShown(value: unknown): VNode {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <span class="condition-value">
      <InertLine text={text} />
    </span>
  );
}
