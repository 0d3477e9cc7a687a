/** A step as its part of the time of the run. */
import type { VNode } from 'preact';
import type { Step } from './story.js';

export interface Span {
  /** Between 0 and 1. */
  readonly from: number;
  readonly to: number;
}

export interface BarProps extends Span {
  readonly step: Pick<Step, 'tone' | 'outcome'>;
  readonly title?: string;
}

/** Custom properties are set by script, which the policy against inline styles allows. */
export function Bar({ step, from, to, title }: BarProps): VNode {
  const style = { '--from': percent(from), '--size': percent(to - from) };
  return <span class={`bar ${step.tone} ${step.outcome ?? ''}`} style={style} title={title} />;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`;
}
