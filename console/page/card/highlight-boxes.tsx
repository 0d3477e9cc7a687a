/** Amounts and recipients of an action, large, with where else they stand word for word. */
import type { VNode } from 'preact';
import type { Ask, Grounds, Json } from '../data/api-types.js';
import { highlightsOf, textsWith, type Highlight, type Highlights } from '../parts/highlights.js';
import { InertLine } from '../parts/inert.js';
import { mixesAlphabets } from '../parts/inert-text.js';
import { budgetFigures } from '../parts/budget-words.js';

const COMPARED_CHARS = 500;

export interface HighlightBoxesProps {
  readonly ask: Ask;
  readonly grounds: Grounds | undefined;
}

export function HighlightBoxes({ ask, grounds }: HighlightBoxesProps): VNode | null {
  const { amounts, recipients } = highlightsIn(ask);
  if (amounts.length + recipients.length === 0) return null;
  // Figures of a budget are the run's own.
  const origins = ask.kind === 'budget' ? undefined : grounds;
  return (
    <div class="highlights">
      {amounts.map((found) => (
        <Box key={found.name} kind="amount" found={found} grounds={origins} />
      ))}
      {recipients.map((found) => (
        <Box key={found.name} kind="recipient" found={found} grounds={origins} />
      ))}
    </div>
  );
}

function highlightsIn(ask: Ask): Highlights {
  if (ask.kind === 'budget') return { amounts: budgetFigures(ask), recipients: [] };
  return highlightsOf(ask.args as Json | undefined);
}

interface BoxProps {
  readonly kind: 'amount' | 'recipient';
  readonly found: Highlight;
  readonly grounds: Grounds | undefined;
}

function Box({ kind, found, grounds }: BoxProps): VNode {
  const { name, value, exact } = found;
  const origin = grounds && originOf(value.slice(0, COMPARED_CHARS), grounds);
  return (
    <div class={`highlight ${kind}`}>
      <span class="highlight-name">
        <InertLine text={name} max={60} />
      </span>
      <span class="highlight-value">
        <InertLine text={value} max={120} />
      </span>
      {exact !== value && (
        <span class="highlight-exact">
          <InertLine text={exact} max={120} />
        </span>
      )}
      {mixesAlphabets(value) && <span class="alarm">Letters of several alphabets in one word</span>}
      {origin !== undefined && <span class={`origin ${origin.kind}`}>{origin.text}</span>}
    </div>
  );
}

interface Origin {
  readonly kind: 'task' | 'source';
  readonly text: string;
}

/** Where a value stands word for word. */
function originOf(value: string, { sources, goal }: Grounds): Origin | undefined {
  if (goal !== undefined && textsWith(value, [goal.text]).length > 0) {
    return { kind: 'task', text: 'as the task says' };
  }
  const texts = sources.map(({ content }) => content.text);
  const place = textsWith(value, texts).at(-1);
  const source = place === undefined ? undefined : sources[place];
  if (source === undefined) return undefined;
  const output = `the output of ${source.tool ?? 'a tool'}`;
  const name = source.kind === 'user' ? 'a message of the user' : output;
  return { kind: 'source', text: `stands in ${name} (untrusted)` };
}
