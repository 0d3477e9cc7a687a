/** In a cycle of a goal results say under which id they are evidence. */
import { toolReturned } from '../../../core/call/execution.js';
import { GOAL_TOOLS } from '../../../core/state/goal/proposal.js';
import { isOpen } from '../../../core/state/run.js';
import { call, calls, says, tool, TOOLBOX, type Script } from '../script.js';
import { createShell, finish, requestsOf, started, until } from '../shell.js';

const PARENT = { kind: 'goal', id: 'goal_1', n: 3, digest: 'd' } as const;
const GOALS = GOAL_TOOLS.map((name) => tool(name, { effect: 'none' }));
const SCRIPT: Script = {
  tools: [...TOOLBOX, ...GOALS],
  model: [
    calls(
      call('a', 'read_order'),
      call('b', 'goal_note', {}),
      call('c', 'nope'),
      call('d', 'write_note'),
    ),
    says('42'),
  ],
  outcomes: { write_note: [{ error: 'no' }] },
};

function evidence(script: Script) {
  const shell = createShell(script);
  finish(shell);
  const items = requestsOf(shell).flatMap(({ append }) => append);
  return items.flatMap((item) =>
    item.kind === 'results'
      ? item.results.map(({ callId, evidence: id }) => [callId, id] as const)
      : [],
  );
}

test('a result counts that is ok and of a real tool; what failed and what the goal itself says does not', () => {
  expect(evidence({ ...SCRIPT, parent: PARENT })).toEqual([
    ['a', 'c3/a'],
    ['b', undefined],
    ['c', undefined],
    ['d', undefined],
  ]);
});

test('a run that works for no goal says nothing of it', () => {
  expect(evidence(SCRIPT).map(([, id]) => id)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('the size of the next request is reckoned with the ids', () => {
  const bytes = (parent?: typeof PARENT) => {
    const shell = createShell({ ...SCRIPT, ...(parent && { parent }) });
    finish(shell);
    return requestsOf(shell)[1]?.bound.inputTokens ?? 0;
  };
  expect(bytes(PARENT) - bytes()).toBeGreaterThanOrEqual('[evidence c3/a]'.length - 11);
});

test('evidence that a goal tool looked for in vain is a warning of the run', () => {
  const shell = createShell({ ...SCRIPT, parent: PARENT });
  until(shell, 'tool_started');
  const { run } = shell;
  const [effect] = started(shell, 'execute_tool');
  if (!isOpen(run) || effect === undefined) throw new Error('nothing runs');
  const outcome = { kind: 'ok', content: { text: '' } } as const;
  const after = toolReturned(run, effect.id, {
    outcome,
    attempts: 1,
    durationMs: 1,
    eventsUpTo: 0,
    warnings: ['goal_note names "c9/x"'],
  });
  expect(JSON.stringify(after.outbox)).toContain('evidence_unknown');
});
