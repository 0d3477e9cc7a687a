/** Rewrites a recording of one benchmark in the format of the other, as its own programs would. */
import type { RecordedRun, RecordedTurn } from '../../lab/proving/recorded-run';

/** Runs as tau2-bench writes them. */
export function asTau2(runs: readonly RecordedRun[]): unknown {
  const simulations = runs.map((run) => ({
    task_id: run.taskId,
    trial: run.trial,
    messages: [
      { role: 'assistant', content: 'Hi! How can I help?' },
      ...run.turns.map(tau2Message),
    ],
  }));
  return { info: {}, tasks: [], simulations };
}

function tau2Message(turn: RecordedTurn): unknown {
  if (turn.role === 'user') return { role: 'user', content: turn.text };
  if (turn.role === 'tool') return { role: 'tool', id: turn.id, content: turn.content };
  const calls = turn.calls.map(({ id, name, args }) => ({ id, name, arguments: args }));
  return { role: 'assistant', content: turn.text, tool_calls: calls };
}

/** Runs as tau-bench writes them. */
export function asTauBench(runs: readonly RecordedRun[]): unknown {
  return runs.map((run) => ({
    task_id: run.taskId,
    trial: run.trial,
    traj: [{ role: 'system', content: 'policy' }, ...run.turns.map(tauBenchMessage)],
  }));
}

function tauBenchMessage(turn: RecordedTurn): unknown {
  if (turn.role === 'user') return { role: 'user', content: turn.text };
  if (turn.role === 'tool') {
    return { role: 'tool', tool_call_id: turn.id, name: turn.name, content: turn.content };
  }
  const calls = turn.calls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { role: 'assistant', content: turn.text, ...(calls.length > 0 && { tool_calls: calls }) };
}
