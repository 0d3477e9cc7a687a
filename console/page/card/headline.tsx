/** How much, and to whom, as the tool declares it: large, with where else the values stand word for word. */
import type { VNode } from 'preact';
import { headlineOf, type Headed } from '../../../pure/headline.js';
import type { Ask, Grounds } from '../data/api-types.js';
import { budgetFigures } from '../parts/budget-words.js';
import { InertLine } from '../parts/inert.js';
import { mixesAlphabets } from '../parts/inert-text.js';
import { OriginLine } from './origin.js';

export interface HeadlineProps {
  readonly ask: Ask;
  readonly grounds: Grounds | undefined;
}

export function Headline({ ask, grounds }: HeadlineProps): VNode | null {
  if (ask.kind === 'budget') return <BudgetFigures ask={ask} />;
  const { amount, recipient } = headlineOf(ask);
  if (amount === undefined && recipient === undefined) return null;
  return (
    <div class="highlights">
      {amount !== undefined && <Box kind="amount" headed={amount} grounds={grounds} />}
      {recipient !== undefined && <Box kind="recipient" headed={recipient} grounds={grounds} />}
    </div>
  );
}

function BudgetFigures({ ask }: { readonly ask: Ask }): VNode | null {
  const figures = budgetFigures(ask);
  if (figures.length === 0) return null;
  return (
    <div class="highlights">
      {figures.map(({ name, value }) => (
        <Box key={name} kind="amount" headed={{ name, value, raw: value }} grounds={undefined} />
      ))}
    </div>
  );
}

interface BoxProps {
  readonly kind: 'amount' | 'recipient';
  readonly headed: Headed;
  readonly grounds: Grounds | undefined;
}

function Box({ kind, headed, grounds }: BoxProps): VNode {
  const { path, name, value, raw } = headed;
  const origin = grounds?.origins.find((one) => one.path === path);
  return (
    <div class={`highlight ${kind}`}>
      <span class="highlight-name">
        <InertLine text={name} max={60} />
      </span>
      <span class="highlight-value">
        <InertLine text={value} max={120} />
      </span>
      {raw !== value && (
        <span class="highlight-exact">
          <InertLine text={`exactly ${raw}`} max={120} />
        </span>
      )}
      {mixesAlphabets(value) && <span class="alarm">Letters of several alphabets in one word</span>}
      {origin !== undefined && <OriginLine origin={origin} raw={raw} shown={value} />}
    </div>
  );
}
