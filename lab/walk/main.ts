/** `npm run walk`: the files of the core that one approved call enters between its proposal and its result. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { advance, receive } from '../../core/loop/engine.js';
import { RULE_LISTS } from '../../core/loop/rules.js';
import type { Input } from '../../core/state/input.js';
import { askOf, createShell, ofType, send, tick, type Shell } from '../../test/core/shell.js';
import { call, calls, decisionOn, says } from '../../test/core/script.js';
import { startCoverage } from './coverage.js';

const ROOT = join(__dirname, '..', '..');
const coverage = startCoverage(ROOT);
const walked = new Map<string, Set<string>>();
const fired: string[] = [];

function keep(): void {
  for (const { file, name } of coverage.take()) {
    if (!file.startsWith('core/')) continue;
    walked.set(file, (walked.get(file) ?? new Set()).add(name));
  }
}

for (const rule of RULE_LISTS.flatMap(
  ({ rules }) =>
    [...rules] as unknown as { name: string; apply: (...given: unknown[]) => unknown }[],
)) {
  const { apply } = rule;
  Object.assign(rule, {
    apply(...given: unknown[]) {
      if (observing) keep();
      const step = apply(...given);
      if (observing && (step === undefined || step === 'hold')) coverage.take();
      else if (observing) {
        fired.push(rule.name);
        keep();
        if (rule.name === 'calls settled') observing = false;
      }
      return step;
    },
  });
}
let observing = false;

function observe(shell: Shell, input: Input): void {
  coverage.take();
  observing = true;
  const next = receive(shell.run, input);
  keep();
  advance(next);
  if (observing) keep();
  observing = false;
}

const shell = createShell({
  model: [calls(call('call_1', 'issue_refund', { order_id: 'A', amount: 5 })), says('Done.')],
});
function due() {
  return shell.awaited
    .filter((one) => !one.id.startsWith('timer-'))
    .sort((a, b) => a.due - b.due || a.order - b.order)[0]!;
}
function walkOne() {
  const next = due();
  const input = next.make(Math.max(shell.now, next.due));
  observe(shell, input);
  shell.awaited = shell.awaited.map((one) => (one === next ? { ...one, make: () => input } : one));
  tick(shell);
}
while (due().id.startsWith('open_run')) tick(shell);
while (ofType(shell, 'approval_requested').length === 0) walkOne();
const decision = decisionOn(askOf(shell), { decidedAt: shell.now });
observe(shell, { type: 'decision', decision, at: shell.now });
send(shell, { type: 'decision', decision });
while (ofType(shell, 'tool_results_message').length === 0) walkOne();
let lines = 0;
for (const [file, names] of [...walked].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const n = text.split('\n').length - 1;
  lines += n;
  console.log(`${String(n).padStart(4)} ${file}  ${[...names].join(' ')}`);
}
console.log(fired.join(' > '));
console.log(`${walked.size} files of core, ${lines} lines`);
