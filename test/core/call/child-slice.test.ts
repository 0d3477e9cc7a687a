/** What is reserved for a sub-agent when hardly anything is left (G88). */
import { sliceFor } from '../../../core/call/child-slice.js';
import { committedMicroUsd } from '../../../core/money/budget.js';
import type { OpenRun } from '../../../core/state/run.js';
import { call, calls, says, tool } from '../script.js';
import { createShell, started, tick } from '../shell.js';

const AGENT = { agent: 'case/r', version: '1', parallel: true } as const;

test('the last money is a slice, and none is none', () => {
  const shell = createShell({
    tools: [tool('x_agent', { kind: 'subagent', effect: 'none', concurrencySafe: true })],
    agents: { r: AGENT },
    model: [calls(call('a', 'x_agent', { name: 'r', prompt: 'Look.' })), says('done')],
    children: [],
  });
  while (started(shell, 'prepare_child').length === 0) tick(shell);
  const { children: _, ...alone } = shell.run as OpenRun;
  const leaving = (microUsd: number): OpenRun => {
    const maxCostMicroUsd = committedMicroUsd(alone) + microUsd;
    const budget = { ...alone.frozen.budget, maxCostMicroUsd };
    return { ...alone, frozen: { ...alone.frozen, budget } };
  };
  const own = alone.turn!.calls[0]!;
  expect(sliceFor(leaving(1), own, AGENT)?.costMicroUsd).toBe(1);
  expect(sliceFor(leaving(0), own, AGENT)).toBeUndefined();
});
