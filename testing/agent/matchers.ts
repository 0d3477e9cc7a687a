/**
 * Matchers for jest and vitest: `expect.extend(agentMatchers)`. Neither of them is loaded here.
 * Their types are in the global namespace that jest has and vitest reads.
 */
import { messageOf, testedOf } from './assertions.js';
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

/** Matchers for `expect` of jest and vitest. */
export interface AgentMatchers<R> {
  /** The tool was called, with arguments that have at least what `args` has. */
  toHaveCalled(tool: string, args?: unknown, more?: CallExpectation): R;
  /** A person was asked, about the tool of this name or as described. */
  toHaveAsked(about?: string | AskExpectation): R;
  /** In micro-USD, as `usd(0.05)` gives it; a number is the exact cost. */
  toHaveCost(cost: CostExpectation): R;
  toHaveStopped(reason: StopReason, detail?: string): R;
}

interface Matched {
  readonly pass: boolean;
  readonly message: () => string;
}

/** Give it to `expect.extend`. */
export const agentMatchers = {
  toHaveCalled: (
    run: unknown,
    tool: string,
    ...[args, more = {}]: [args?: unknown, more?: CallExpectation]
  ) => matched(judgeCalled(testedOf(run), tool, { ...more, args })),
  toHaveAsked: (run: unknown, about?: string | AskExpectation) =>
    matched(judgeAsked(testedOf(run), about)),
  toHaveCost: (run: unknown, cost: CostExpectation) => matched(judgeCost(testedOf(run), cost)),
  toHaveStopped: (run: unknown, reason: StopReason, detail?: string) =>
    matched(judgeStopped(testedOf(run), reason, detail)),
};

/** `message` is shown when the test fails: with `.not` where the run passes. */
function matched(judgement: Judgement): Matched {
  return { pass: judgement.pass, message: () => messageOf(judgement, !judgement.pass) };
}

declare global {
  // oxlint-disable-next-line typescript/no-namespace
  namespace jest {
    // oxlint-disable-next-line typescript/no-empty-object-type
    interface Matchers<R, T = {}> extends AgentMatchers<R> {}
  }
}
