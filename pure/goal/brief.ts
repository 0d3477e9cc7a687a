/**
 * The brief of a cycle: what its agent is told, and what it is shown as data.
 * Invariants: the task is objective, constraints and what people said, whole and nothing else; all the rest is context,
 * each part with its origin; what does not fit is cut in a fixed order, people's words never; a brief of cycle 1,000 is
 * as long as one of cycle 20.
 */
import type { CheckFacts } from '../../core/state/goal/facts.js';
import { estimateTokens } from '../token-estimate.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { BriefPart } from './brief-part.js';
import { FULL, LESS, sectionsOf, type Amounts } from './brief-sections.js';

export interface Brief {
  readonly task: { readonly goal: string };
  readonly context: readonly BriefPart[];
  /** Estimated tokens, by section. */
  readonly sections: { readonly [section: string]: number };
  readonly tokens: number;
}

export interface SaidWords {
  readonly text: string;
  readonly by: string;
  readonly proven: boolean;
}

export interface BriefSources {
  readonly objective: string;
  readonly constraints: readonly string[];
  readonly memory: GoalMemory;
  readonly reads: readonly SaidWords[];
  /** Why something was refused, oldest first. */
  readonly feedback: readonly string[];
  readonly checks: { readonly [name: string]: CheckFacts };
  /** Number of the cycle. */
  readonly n: number;
  readonly maxTokens: number;
}

export function composeBrief(sources: BriefSources): Brief {
  const said = saidSections(sources);
  const task = { goal: Object.values(said).filter(Boolean).join('\n\n') };
  const left = sources.maxTokens - tokensIn(task.goal);
  const shown = fitting(sources, left);
  const counted = Object.entries(said).map(([name, text]) => [name, tokensIn(text)] as const);
  const parts = shown.map(([name, list]) => [name, tokensOf(list)] as const);
  const sections = Object.fromEntries([...counted, ...parts].filter(([, count]) => count > 0));
  return {
    task,
    context: shown.flatMap(([, list]) => list),
    sections,
    tokens: Object.values(sections).reduce((sum, count) => sum + count, 0),
  };
}

function saidSections({ objective, constraints, reads }: BriefSources) {
  const lines = constraints.map((line) => `- ${line}`).join('\n');
  const words = reads.map(({ text, by, proven }) => {
    const how = proven ? 'proven' : 'unproven';
    return `${by} (${how}) says:\n${text}`;
  });
  return {
    objective,
    constraints: lines === '' ? '' : `Constraints:\n${lines}`,
    people: words.join('\n\n'),
  };
}

type Sections = readonly (readonly [name: string, parts: readonly BriefPart[]])[];

/** Everything that fits, after as few cuts as possible. */
function fitting(sources: BriefSources, maxTokens: number): Sections {
  let amounts: Amounts = FULL;
  let shown = sectionsOf(sources, amounts);
  for (const less of LESS) {
    for (;;) {
      if (tokensOf(shown.flatMap(([, list]) => list)) <= maxTokens) return shown;
      const next = less(amounts);
      if (next === undefined) break;
      amounts = next;
      shown = sectionsOf(sources, amounts);
    }
  }
  return tokensOf(shown.flatMap(([, list]) => list)) <= maxTokens ? shown : [];
}

/** What a part takes besides its text: its fences. */
const PART_BYTES = 120;

function tokensOf(parts: readonly BriefPart[]): number {
  return parts.reduce((sum, { text }) => sum + estimateTokens(bytesOf(text) + PART_BYTES), 0);
}

function tokensIn(text: string): number {
  return estimateTokens(bytesOf(text));
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Most tokens of a brief: what was asked for, but no more than half of what the money pays. */
export function briefLimit({
  briefTokens,
  sliceMicroUsd,
  inputMicroUsdPerMillion,
  maxInputTokens,
}: {
  readonly briefTokens: number;
  readonly sliceMicroUsd: number;
  readonly inputMicroUsdPerMillion: number;
  readonly maxInputTokens: number | 'unlimited';
}): number {
  const paid =
    inputMicroUsdPerMillion > 0
      ? Math.floor((sliceMicroUsd * 1_000_000) / inputMicroUsdPerMillion / 2)
      : Number.POSITIVE_INFINITY;
  const allowed =
    maxInputTokens === 'unlimited' ? Number.POSITIVE_INFINITY : Math.floor(maxInputTokens / 2);
  return Math.max(0, Math.min(briefTokens, paid, allowed));
}
