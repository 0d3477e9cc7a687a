/** Assertions about a run under test, for any test runner. Each throws an AssertionError that shows what is there instead. */
import { AssertionError } from 'node:assert';
import { HoldfastError } from '../../core/state/errors.js';
import type { StopReason } from '../../core/state/result.js';
import {
  judgeAsked,
  judgeCalled,
  judgeCost,
  judgeStopped,
  type AskExpectation,
  type CallExpectation,
  type CostExpectation,
  type Judgement,
} from './judge.js';
import type { TestedRun } from './tested-run.js';

type Run = TestedRun<unknown>;

/** A call of a tool: its name, and what its arguments have at least. */
export type ExpectedCall = CallExpectation & { readonly tool: string; readonly args?: unknown };

/** The tool was called, with arguments that have at least what `args` has. */
export function assertCalled(run: Run, call: string | ExpectedCall): void {
  demand(called(run, call), true);
}

/** The tool was not called, or not with such arguments. */
export function assertNotCalled(run: Run, call: string | ExpectedCall): void {
  demand(called(run, call), false);
}

/** A person was asked, about the tool of this name or as described. */
export function assertAsked(run: Run, about?: string | AskExpectation): void {
  demand(judgeAsked(testedOf(run), about), true);
}

/** No person was asked, or not about the tool of this name. */
export function assertNotAsked(run: Run, about?: string | AskExpectation): void {
  demand(judgeAsked(testedOf(run), about), false);
}

/** In micro-USD, as `usd(0.05)` gives it; a number is the exact cost. */
export function assertCost(run: Run, cost: CostExpectation): void {
  demand(judgeCost(testedOf(run), cost), true);
}

/** The run ended for this reason: `assertStopped(run, 'completed')`. */
export function assertStopped(run: Run, reason: StopReason, detail?: string): void {
  demand(judgeStopped(testedOf(run), reason, detail), true);
}

function called(run: Run, call: string | ExpectedCall): Judgement {
  // Of what is no call at all nothing is left, not even a tool.
  const { tool, ...more } = typeof call === 'string' ? { tool: call } : { ...call };
  return judgeCalled(testedOf(run), tool, more);
}

// Errors: InvalidFixture for what is no run, as the promise of one.
export function testedOf(run: unknown): Run {
  const { calls, asks } = (run ?? {}) as Partial<Run>;
  if (Array.isArray(calls) && Array.isArray(asks)) return run as Run;
  throw new HoldfastError('InvalidFixture', 'An expectation is about a run of testAgent.', {
    hint: 'Await it: const run = await testAgent(…).',
  });
}

function demand({ pass, wanted, found }: Judgement, expected: boolean): void {
  if (pass === expected) return;
  throw new AssertionError({
    message: messageOf({ wanted, found }, expected),
    stackStartFn: demand,
  });
}

/** A sentence and what is there. */
export function messageOf(
  { wanted, found }: Pick<Judgement, 'wanted' | 'found'>,
  expected: boolean,
): string {
  return `The run should ${expected ? '' : 'not '}have ${wanted}.\n\n${found}`;
}
