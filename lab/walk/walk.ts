/**
 * One approved refund, from the model's proposal to the message with its result, and the files of the core that it
 * enters. What a rule enters that does not fire is left out: it said that it is not concerned.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { advance, receive } from '../../core/loop/engine.js';
import { RULE_LISTS, type RuleName } from '../../core/loop/rules.js';
import type { Input } from '../../core/state/input.js';
import { call, calls, decisionOn, says } from '../../test/core/script.js';
import { askOf, createShell, ofType, send, tick, type Shell } from '../../test/core/shell.js';
import { startCoverage, type Coverage } from './coverage.js';

const ROOT = join(__dirname, '..', '..');
/** The message with the results of a turn is made by this rule; what fires after it belongs to the next turn. */
const LAST_RULE: RuleName = 'calls settled';

export interface WalkedFile {
  readonly path: string;
  readonly lines: number;
}

export interface Walk {
  readonly files: readonly WalkedFile[];
  /** In the order in which they fired. */
  readonly rules: readonly RuleName[];
}

export function walkApprovedRefund(): Walk {
  const refund = calls(call('call_1', 'issue_refund', { order_id: 'A', amount: 5 }));
  const shell = createShell({ model: [refund, says('Done.')] });
  tick(shell);
  const walker = createWalker();
  try {
    goOn(shell, walker, () => ofType(shell, 'approval_requested').length > 0);
    const decision = decisionOn(askOf(shell), { decidedAt: shell.now });
    walker.watch(shell, { type: 'decision', decision, at: shell.now });
    send(shell, { type: 'decision', decision });
    goOn(shell, walker, () => ofType(shell, 'tool_results_message').length > 0);
  } finally {
    walker.stop();
  }
  const files = walker.entered().map((path) => ({ path, lines: linesOf(path) }));
  return { files, rules: walker.fired };
}

function goOn(shell: Shell, walker: Walker, isDone: () => boolean): void {
  while (!isDone()) {
    const next = shell.awaited
      .filter(({ id }) => !id.startsWith('timer-'))
      .sort((a, b) => a.due - b.due || a.order - b.order)[0];
    if (next === undefined) throw new Error('The refund rests before it has its result.');
    // An outcome is made once: the transcript of the shell grows with it.
    const input = next.make(Math.max(shell.now, next.due));
    walker.watch(shell, input);
    shell.awaited = shell.awaited.map((one) =>
      one === next ? { ...one, make: () => input } : one,
    );
    tick(shell);
  }
}

interface Walker {
  readonly fired: readonly RuleName[];
  /** Receives and decides once for the record; the shell does the same for itself afterwards. */
  watch(shell: Shell, input: Input): void;
  entered(): readonly string[];
  stop(): void;
}

interface AnyRule {
  readonly name: RuleName;
  apply: (...given: readonly never[]) => unknown;
}

function createWalker(): Walker {
  const coverage = startCoverage(ROOT);
  const walked = new Set<string>();
  const fired: RuleName[] = [];
  let watching = false;
  const keep = (): void => {
    for (const path of coverage.take()) if (path.startsWith('core/')) walked.add(path);
  };
  const rules = RULE_LISTS.flatMap((list): readonly AnyRule[] => [...list.rules]);
  const untouched = rules.map(({ apply }) => apply);
  for (const rule of rules) watchRule(rule);

  function watchRule(rule: AnyRule): void {
    const { name, apply } = rule;
    rule.apply = (...given) => {
      if (!watching) return apply(...given);
      keep();
      const ruling = apply(...given);
      if (ruling === undefined || ruling === 'hold') forget(coverage);
      else fired.push(name);
      keep();
      if (fired.at(-1) === LAST_RULE) watching = false;
      return ruling;
    };
  }

  return {
    fired,
    watch(shell, input) {
      forget(coverage);
      watching = true;
      advance(receive(shell.run, input));
      if (watching) keep();
      watching = false;
    },
    entered: () => [...walked].sort((a, b) => (a < b ? -1 : 1)),
    stop() {
      for (const [index, rule] of rules.entries()) rule.apply = untouched[index]!;
      coverage.stop();
    },
  };
}

function forget(coverage: Coverage): void {
  coverage.take();
}

function linesOf(path: string): number {
  return readFileSync(join(ROOT, path), 'utf8').split('\n').length - 1;
}
