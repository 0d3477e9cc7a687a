/** Money against the budget, and each measurement, over time. */
import type { VNode } from 'preact';
import { cost } from '../parts/format.js';
import { Chart } from './chart.js';
import type { GoalEvents } from './goal-record.js';

const MONEY = [{ name: 'Spent' }, { name: 'Budget', isStepped: true }] as const;
const MEASURE = [{ name: 'Measured' }, { name: 'Best so far', isStepped: true }] as const;
const figure = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 6 });

export function ChartsPanel({ record }: { readonly record: GoalEvents }): VNode {
  const { money, measures } = record;
  return (
    <div class="goal-panel">
      <Chart title="Money" lines={MONEY} points={money} show={cost} />
      {[...measures].map(([name, points]) => (
        <Chart key={name} title={`Check ${name}`} lines={MEASURE} points={points} show={figure} />
      ))}
      {measures.size === 0 && <p class="help">No check has measured anything yet.</p>}
    </div>
  );
}
