/**
 * What becomes of the proposals of a cycle when it is closed: applied in their order, once.
 * Invariants: a proposal counts whole or not at all; a path is published once a cycle; what comes too late is noted, with
 * a warning.
 */
import { canonicalJson, fitsBytes, type Json } from '../../core/json/json.js';
import {
  MEMORY_LIMITS,
  type GoalMemory,
  type Note,
  type Plan,
} from '../../core/state/goal/memory.js';
import type { BlockKind, Proposal } from '../../core/state/goal/proposal.js';
import { cutText, newest } from './memory.js';
import { changedByPeople, mergeSteps, NO_CHANGE, type PlanChange } from './plan.js';
import { proposalDefect } from './proposal-defect.js';

export interface Closing {
  readonly cycle: number;
  /** ms since epoch. */
  readonly at: number;
  /** Name of the agent. */
  readonly agent: string;
  /** The plan that the brief showed. */
  readonly base: Plan;
  readonly exists: (evidence: string) => boolean;
  readonly handoffTo: readonly string[];
  readonly maxAskedPauseMs: number;
  /** 'marks': steps that are added, dropped or renamed wait for a person. */
  readonly scope: 'all' | 'marks';
}

export interface Applied {
  readonly memory: GoalMemory;
  readonly change: PlanChange;
  /** Published for the first time. */
  readonly firstPaths: readonly string[];
  readonly proposedDone: boolean;
  readonly handoff?: { readonly to: string; readonly because: string };
  readonly pause?: { readonly until: number; readonly because: string };
  readonly block?: { readonly kind: BlockKind; readonly step?: string; readonly because: string };
  readonly unknownEvidence: readonly string[];
  readonly superseded: readonly string[];
}

interface Folding extends Applied {
  readonly published: ReadonlySet<string>;
  readonly notes: number;
  readonly people: ReadonlySet<string>;
}

export function applyProposals(
  memory: GoalMemory,
  proposals: readonly Proposal[],
  closing: Closing,
): Applied {
  const start: Folding = {
    memory,
    change: NO_CHANGE,
    firstPaths: [],
    proposedDone: false,
    unknownEvidence: [],
    superseded: [],
    published: new Set(),
    notes: memory.notes.filter(({ cycle }) => cycle === closing.cycle).length,
    people: changedByPeople(closing.base, memory.plan),
  };
  const {
    published: _,
    notes: __,
    people: ___,
    ...applied
  } = proposals.reduce<Folding>((folding, proposal) => {
    const defect = proposalDefect(proposal);
    if (defect !== undefined) return superseded(folding, `a proposal cannot be read: ${defect}`);
    return apply(withUnknown(folding, proposal, closing), proposal, closing);
  }, start);
  return {
    ...applied,
    unknownEvidence: [...new Set(applied.unknownEvidence)],
    memory: withNotes(applied.memory, applied.superseded, closing),
  };
}

function apply(folding: Folding, proposal: Proposal, closing: Closing): Folding {
  switch (proposal.kind) {
    case 'plan':
      return planned(folding, proposal.steps, closing);
    case 'note':
      return noted(folding, proposal, closing);
    case 'publish':
      return publishedIn(folding, proposal, closing);
    case 'done':
      return { ...folding, proposedDone: true };
    case 'handoff': {
      const { to, because } = proposal;
      if (!closing.handoffTo.includes(to))
        return superseded(folding, `the goal is not handed to ${to}: handoffTo does not name it`);
      return { ...folding, handoff: { to, because } };
    }
    case 'pause': {
      const { because } = proposal;
      const until = Math.min(proposal.until, closing.at + closing.maxAskedPauseMs);
      return until <= closing.at ? folding : { ...folding, pause: { until, because } };
    }
    case 'block': {
      const { block: kind, because, step } = proposal;
      return { ...folding, block: { kind, because, ...(step !== undefined && { step }) } };
    }
    case 'warning':
      return folding;
  }
}

function planned(
  folding: Folding,
  steps: Extract<Proposal, { kind: 'plan' }>['steps'],
  { base, exists, scope }: Closing,
): Folding {
  const { memory, change, people } = folding;
  const rules = { by: 'agent', people, exists, scope };
  const merged = mergeSteps(memory.plan, steps, { ...rules, marksDone: true });
  return {
    ...folding,
    memory: { ...memory, plan: merged.plan },
    change: {
      added: change.added + merged.change.added,
      dropped: change.dropped + merged.change.dropped,
      renamed: change.renamed + merged.change.renamed,
      done: [...change.done, ...doneBefore(base, merged.change.done)],
    },
    superseded: [...folding.superseded, ...merged.superseded],
  };
}

/** A step counts as progress that was in the plan before the cycle. */
function doneBefore({ steps }: Plan, done: readonly string[]): readonly string[] {
  return done.filter((id) => steps.some((step) => step.id === id));
}

function noted(
  folding: Folding,
  { text, evidence = [] }: Extract<Proposal, { kind: 'note' }>,
  { cycle, agent, exists }: Closing,
): Folding {
  if (folding.notes >= MEMORY_LIMITS.notes)
    return superseded(folding, `a cycle keeps at most ${MEMORY_LIMITS.notes} notes`);
  const real = evidence.filter(exists);
  const note: Note = { cycle, by: agent, text, ...(real.length > 0 && { evidence: real }) };
  const { memory } = folding;
  const notes = newest([...memory.notes, note], MEMORY_LIMITS.notesKept);
  return { ...folding, notes: folding.notes + 1, memory: { ...memory, notes } };
}

function publishedIn(
  folding: Folding,
  { path, value }: Extract<Proposal, { kind: 'publish' }>,
  { cycle }: Closing,
): Folding {
  const { memory, published, firstPaths } = folding;
  if (published.has(path))
    return superseded(folding, `the path ${path} was published already in this cycle`);
  const state = { ...memory.state, [path]: { value, cycle } };
  const defect = stateDefect(state);
  if (defect !== undefined) return superseded(folding, `the path ${path} is not kept: ${defect}`);
  const isFirst = !Object.hasOwn(memory.state, path);
  return {
    ...folding,
    memory: { ...memory, state },
    published: new Set([...published, path]),
    firstPaths: isFirst ? [...firstPaths, path] : firstPaths,
  };
}

/** What is too much of a published state; undefined: it can be kept. */
export function stateDefect(state: GoalMemory['state']): string | undefined {
  if (Object.keys(state).length > MEMORY_LIMITS.paths)
    return `there are at most ${MEMORY_LIMITS.paths} published paths`;
  const values = Object.entries(state).map(([path, { value }]) => [path, value]);
  const size = canonicalJson(Object.fromEntries(values) as Json);
  return fitsBytes(size, MEMORY_LIMITS.stateBytes)
    ? undefined
    : `the published state has at most ${MEMORY_LIMITS.stateBytes} bytes`;
}

function withUnknown(folding: Folding, proposal: Proposal, { exists }: Closing): Folding {
  const unknown = evidenceOf(proposal).filter((id) => !exists(id));
  if (unknown.length === 0) return folding;
  return { ...folding, unknownEvidence: [...folding.unknownEvidence, ...unknown] };
}

export function evidenceOf(proposal: Proposal): readonly string[] {
  if (proposal.kind === 'plan') return proposal.steps.flatMap(({ evidence = [] }) => evidence);
  if (proposal.kind === 'publish' || !('evidence' in proposal)) return [];
  return proposal.evidence ?? [];
}

const SUPERSEDED_MAX = 20;

function superseded(folding: Folding, words: string): Folding {
  if (folding.superseded.length >= SUPERSEDED_MAX) return folding;
  return { ...folding, superseded: [...folding.superseded, words] };
}

/** The next cycle reads why something did not count. */
function withNotes(memory: GoalMemory, words: readonly string[], { cycle }: Closing): GoalMemory {
  if (words.length === 0) return memory;
  const notes = words.map((text): Note => {
    const said = cutText(`Superseded: ${text}.`, MEMORY_LIMITS.noteChars);
    return { cycle, by: 'goal', text: said, superseded: true };
  });
  return { ...memory, notes: newest([...memory.notes, ...notes], MEMORY_LIMITS.notesKept) };
}
