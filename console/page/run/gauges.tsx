/** How much of its budget a run has used. Without an answer of the run itself: what its events say. */
import type { VNode } from 'preact';
import type { Counters } from '../../../core/state/result.js';
import type { RunState } from '../data/api-types.js';
import { cost, duration, whole } from '../parts/format.js';
import type { Story } from './story.js';

const NEARLY = 0.85;

export interface Figure {
  readonly name: string;
  readonly used: number | undefined;
  readonly limit: unknown;
  readonly show: (value: number) => string;
}

export interface GaugesProps {
  /** Undefined: the run has ended, or has not answered. */
  readonly state: RunState | undefined;
  readonly story: Story;
}

export function Gauges({ state, story }: GaugesProps): VNode {
  return (
    <div class="gauges">
      {figuresOf(state, story).map((figure) => (
        <Gauge key={figure.name} {...figure} />
      ))}
    </div>
  );
}

function figuresOf(state: RunState | undefined, story: Story): readonly Figure[] {
  const counters = (state?.counters ?? story.result?.counters ?? {}) as Partial<Counters>;
  const budget = (state?.budget ?? {}) as { readonly [name: string]: unknown };
  const { costMicroUsd = story.costMicroUsd, toolCalls = story.toolCalls } = counters;
  const { turnCount, activeMs, usage } = counters;
  return [
    { name: 'Cost', used: costMicroUsd, limit: budget['maxCostMicroUsd'], show: cost },
    { name: 'Turns', used: turnCount, limit: budget['maxTurns'], show: whole },
    { name: 'Tool calls', used: toolCalls, limit: budget['maxToolCalls'], show: whole },
    { name: 'Time at work', used: activeMs, limit: budget['timeoutMs'], show: duration },
    { name: 'Tokens in', used: usage?.input, limit: budget['maxInputTokens'], show: whole },
    { name: 'Tokens out', used: usage?.output, limit: budget['maxOutputTokens'], show: whole },
  ];
}

export function Gauge({ name, used, limit, show }: Figure): VNode | null {
  if (used === undefined) return null;
  const max = typeof limit === 'number' && limit > 0 ? limit : undefined;
  const share = max === undefined ? 0 : used / max;
  const tone = share >= 1 ? ' full' : share >= NEARLY ? ' nearly' : '';
  const of = max === undefined ? '' : ` of ${show(max)}`;
  return (
    <div class={`gauge${tone}`}>
      <span class="gauge-name">{name}</span>
      <span class="gauge-value">
        {show(used)}
        {max !== undefined && <span class="gauge-limit">{of}</span>}
      </span>
      {max !== undefined && (
        <progress max={1} value={Math.min(1, share)} aria-label={`${name}: ${show(used)}${of}`} />
      )}
    </div>
  );
}
