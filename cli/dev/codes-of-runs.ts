/**
 * Which code of `holdfast dev` serves a run.
 * Invariants: a run tree keeps the code that it began with; what that code lacks (the run began before this `dev`, under
 * other code) is looked for in all code that is served, the newest first, and stays with the code that had it; code that
 * no run uses is forgotten with the next save.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityKind, OpenRunInput, RunRef } from '../../core/state/effect.js';

/** The newest first. */
export type Served<Code> = readonly [Code, ...Code[]];

export interface CodesOfRuns<Code> {
  /** What the workers say that they serve. */
  served(): Served<Code>;
  /** For runs that begin from now on. */
  replace(newest: Code): void;
  /** Performs with the run's code, or with the first that has what it lacks. */
  perform<T>(work: Work, attempt: (code: Code) => Promise<T>): Promise<T>;
  runsUnderWay(): number;
}

export interface Work {
  readonly kind: ActivityKind;
  readonly input: RunInput;
}

/** Of any activity. */
export interface RunInput extends Partial<Pick<OpenRunInput, 'start' | 'handoff'>> {
  readonly run: RunRef;
}

/** Runs whose code is remembered; those beyond get the newest. */
const RUNS_MAX = 10_000;
/** Sub-agents and runs that were handed the task belong to the run above them; a cycle of a goal is a run of its own. */
const BELOW = /(?::[ah]\d+)+$/;

export function codesOfRuns<Code>(first: Code): CodesOfRuns<Code> {
  let served: Served<Code> = [first];
  /** Of a root: its own code, then what it has found elsewhere. */
  const codesOf = new Map<string, readonly Code[]>();

  const known = (root: string): readonly Code[] => {
    const codes = codesOf.get(root) ?? [served[0]];
    codesOf.set(root, codes);
    if (codesOf.size > RUNS_MAX) codesOf.delete(codesOf.keys().next().value ?? root);
    return codes;
  };

  const keep = (work: Work, code: Code): void => {
    const root = rootOf(work);
    // Work that ends after its run does not bring the run back.
    if (!codesOf.has(root) && !isBeginning(work)) return;
    const codes = known(root);
    if (codes.includes(code)) return;
    codesOf.set(root, isBeginning(work) ? [code] : [...codes, code]);
    // It may have been forgotten while it was at work.
    if (!served.includes(code)) served = [...served, code];
  };

  return {
    served: () => served,
    replace(code) {
      const used = new Set([...codesOf.values()].flat());
      served = [code, ...served.filter((one) => one !== code && used.has(one))];
    },
    async perform(work, attempt) {
      const root = rootOf(work);
      // What nobody under way has started begins with the newest alone.
      const isNew = isBeginning(work) && work.input.start?.parent === undefined;
      const others = isNew ? [served[0]] : served;
      let refusal: unknown;
      for (const code of new Set([...known(root), ...others])) {
        try {
          const output = await attempt(code);
          keep(work, code);
          if (work.kind === 'close_run' && work.input.run.runId === root) codesOf.delete(root);
          return output;
        } catch (error) {
          if (!isNotServed(error)) throw error;
          refusal = error;
        }
      }
      throw refusal;
    },
    runsUnderWay: () => codesOf.size,
  };
}

function rootOf({ input }: Work): string {
  return input.run.runId.replace(BELOW, '');
}

/** What begins is bound to the code that could open it. */
function isBeginning({ kind, input }: Work): boolean {
  if (BELOW.test(input.run.runId) || input.handoff !== undefined) return false;
  return kind === 'open_goal' || (kind === 'open_run' && input.start !== undefined);
}

/** Refused before it reached anything, because code lacks. */
function isNotServed(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === 'NotServed';
}
