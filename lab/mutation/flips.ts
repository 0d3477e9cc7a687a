/** Rules broken on purpose, one at a time. Each must fail a fixture: a rule that nobody misses is not proven. */
import type { Mutation } from './judge.js';

export const FLIPS: readonly Mutation[] = [
  {
    name: 'a limit allows one more than it says',
    file: 'core/step/clock.ts',
    find: 'used >= limit;',
    replace: 'used > limit;',
  },
  {
    name: 'an approval counts for any arguments',
    file: 'core/ask/decide.ts',
    find: 'if (decision.argsHash !== ask.digest)',
    replace: "if (decision.argsHash === 'x')",
  },
  {
    name: 'a decision is late by when the run learns of it',
    file: 'core/ask/decide.ts',
    find: 'decision.decidedAt > ask.expiresAt',
    replace: 'run.now > ask.expiresAt',
  },
  {
    name: 'one vote is a quorum',
    file: 'core/step/open-work.ts',
    find: 'approvals.length >= ask.quorum',
    replace: 'approvals.length >= 1',
  },
  {
    name: 'a correction is taken although somebody has rejected meanwhile',
    file: 'core/ask/held-words.ts',
    find: 'return held.some(isAgainst);',
    replace: 'return false;',
  },
  {
    name: 'results stand in the order of their ends, not of their proposals',
    file: 'core/turn/reply.ts',
    find: "turn.calls.filter((call): call is SettledStage => call.stage === 'settled');",
    replace:
      "turn.calls.filter((call): call is SettledStage => call.stage === 'settled').reverse();",
  },
  {
    name: 'denied calls are counted as invalid ones',
    file: 'core/call/result.ts',
    find: 'deniedCalls: next.deniedCalls + 1',
    replace: 'invalidCalls: next.invalidCalls + 1',
  },
  {
    name: 'nobody looks at the budget between a reply and its tools',
    file: 'core/call/dispatch.ts',
    find: 'const tripped = moneyTrip(run);',
    replace: 'const tripped = undefined as ReturnType<typeof moneyTrip>;',
  },
  {
    name: 'calls of one reply share a key',
    file: 'core/step/open-work.ts',
    find: 'return callsInReply === 1 ? String(step) : `${step}:${index}`;',
    replace: 'return callsInReply === -index ? `${index}` : String(step);',
  },
  {
    name: 'calls that change something run side by side',
    file: 'core/call/dispatch.ts',
    find: 'return tool === undefined || isMutating(tool) || !tool.concurrencySafe;',
    replace: 'return tool === undefined || (isMutating(tool) && !tool.concurrencySafe && false);',
  },
  {
    name: 'a cancel takes the place of an interrupt',
    file: 'core/loop/receive.ts',
    find: "return { ...run, interrupt: run.interrupt ?? 'cancel' };",
    replace: "return { ...run, interrupt: 'cancel' };",
  },
  {
    name: 'an answer without the evidence it needs is let through',
    file: 'core/gates/completion.ts',
    find: '  evidenceGate,\n  criteriaGate,',
    replace: '  criteriaGate,',
  },
  {
    name: 'a delta of exactly the small size is a small one',
    file: 'core/gates/token-budget.ts',
    find: 'tracker.outputTokens < tokenBudget.smallDeltaTokens',
    replace: 'tracker.outputTokens <= tokenBudget.smallDeltaTokens',
  },
  {
    name: 'recoveries are not given back with the next turn',
    file: 'core/turn/reply.ts',
    find: 'turnCount: rest.tally.turnCount + 1, recoveryCount: 0 }',
    replace: 'turnCount: rest.tally.turnCount + 1 }',
  },
  {
    name: 'blanks are an answer',
    file: 'core/json/json.ts',
    find: "stored.text.trim() === ''",
    replace: "stored.text === ''",
  },
  {
    name: 'a path takes the place of its neighbours',
    file: 'core/gates/state.ts',
    find: "typeof inner === 'object' && inner !== null",
    replace: "typeof inner === 'object' && inner === null",
  },
  {
    name: 'a summary that is needed and cannot be paid is forgotten',
    file: 'core/context/compaction.ts',
    find: "if (current.cause === 'prompt_too_long') return",
    replace: "if (current.cause !== 'prompt_too_long') return",
  },
  {
    name: 'hooks are asked about their own arguments',
    file: 'core/call/after-argument-check.ts',
    find: "asker.kind === 'hook' ? { ...good",
    replace: "asker.kind !== 'hook' ? { ...good",
  },
  {
    name: 'nobody looks into large values for a condition',
    file: 'core/call/argument-check.ts',
    find: '...(when !== undefined && { when }),',
    replace: '...(when === undefined && { when }),',
  },
  {
    name: 'the first question about an outcome is numbered',
    file: 'core/call/doubt.ts',
    find: 'attempt > 1 ?',
    replace: 'attempt >= 1 ?',
  },
  {
    name: 'events stay with a run that waits',
    file: 'core/loop/engine.ts',
    find: 'if (!idle || run.outbox.events.length === 0 || run.segment.full) return decided;',
    replace: 'if (idle || run.outbox.events.length === 0 || run.segment.full) return decided;',
  },
];
