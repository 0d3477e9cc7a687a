/** How much of its budget a goal has used, and which conditions hold. */
import type { VNode } from 'preact';
import type { Counters, GoalOutcome } from '../../../core/state/result.js';
import type { GoalDetail } from '../data/api-types.js';
import { cost, plural, whole, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { TableHead } from '../parts/table-head.js';
import { Gauge, type Figure } from '../run/gauges.js';

const COLUMNS = ['Condition', 'Verdict'];

export function GoalFigures({ goal }: { readonly goal: GoalDetail }): VNode {
  const conditions = conditionsOf(goal);
  const { view } = goal;
  return (
    <>
      <div class="gauges">
        {figuresOf(goal).map((figure) => (
          <Gauge key={figure.name} {...figure} />
        ))}
      </div>
      {view !== undefined && view.unreadMessages > 0 && (
        <p class="help">{`${plural(view.unreadMessages, 'message')} of people will be in the next brief.`}</p>
      )}
      {conditions.length > 0 && (
        <table class="panel goal-table" aria-label="Done when">
          <TableHead columns={COLUMNS} />
          <tbody>
            {conditions.map(({ condition, verdict }) => (
              <tr key={condition}>
                <th scope="row">
                  <InertLine text={condition} max={300} />
                </th>
                <td>
                  <span class={`badge ${TONES[verdict] ?? ''}`}>{words(verdict)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

const TONES: { readonly [verdict: string]: string } = { held: 'completed', unknown: 'waiting' };

interface Ended {
  readonly counters?: Counters;
  readonly goal?: GoalOutcome;
}

function conditionsOf({ view, result }: GoalDetail) {
  return view?.done ?? (result as Ended | undefined)?.goal?.done ?? [];
}

export function figuresOf({
  view,
  result,
  definition,
  spentMicroUsd,
  budgetMicroUsd,
}: GoalDetail): readonly Figure[] {
  const ended = result as Ended | undefined;
  const counters = (view?.['counters'] ?? ended?.counters) as Partial<Counters> | undefined;
  const limits = (view?.budget ?? definition?.['budget'] ?? {}) as {
    readonly [name: string]: unknown;
  };
  // Of an ended goal the row knows raises, its definition does not.
  const money = view?.budget?.maxCostMicroUsd ?? budgetMicroUsd ?? limits['maxCostMicroUsd'];
  const { usage } = counters ?? {};
  return [
    { name: 'Spent', used: view?.spentMicroUsd ?? spentMicroUsd, limit: money, show: cost },
    { name: 'Reserved', used: view?.reservedMicroUsd, limit: undefined, show: cost },
    {
      name: 'Cycles',
      used: view?.cycles ?? ended?.goal?.cycles,
      limit: limits['maxCycles'],
      show: whole,
    },
    {
      name: 'Model calls',
      used: counters?.modelCalls,
      limit: limits['maxModelCalls'],
      show: whole,
    },
    { name: 'Tool calls', used: counters?.toolCalls, limit: limits['maxToolCalls'], show: whole },
    {
      name: 'Tokens in',
      used: usage && usage.input + usage.cacheRead + usage.cacheWrite,
      limit: limits['maxInputTokens'],
      show: whole,
    },
    { name: 'Tokens out', used: usage?.output, limit: limits['maxOutputTokens'], show: whole },
  ];
}
