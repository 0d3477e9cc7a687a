/**
 * Workers serve a tool with another schema than the run has (G110).
 * Invariant: under rules with `schemasRechecked` no call runs whose arguments were checked, or agreed to, by a schema
 * that the run has given up before the call began.
 */
import type { Call } from '../state/call.js';
import type { OpenRun } from '../state/run.js';
import { follows } from '../step/changes.js';
import { warn } from '../step/outbox.js';
import { adoptSchema } from '../step/route.js';

/** The run has the schema from now on that this call has met; other calls are looked at again. */
export function adoptSchemaMetBy(run: OpenRun, met: Call, schemaHash: string): OpenRun {
  const { turn } = run;
  const tool = met.stage === 'checking' ? met.target.tool : met.tool;
  const adopted = adoptSchema(run, tool, schemaHash);
  if (adopted === run || turn === undefined || !follows(run, 'schemasRechecked')) return adopted;
  const calls = turn.calls.map((call) =>
    isOf(tool, call) && call.index !== met.index ? outdated(call) : call,
  );
  return { ...adopted, turn: { ...turn, calls } };
}

/** A correction that is checked may put the tool in the place of the call's own. */
function isOf(tool: string, call: Call): boolean {
  const isBack = call.stage === 'checking' || call.stage === 'rechecked';
  return call.tool === tool || (isBack && call.target.tool === tool);
}

function outdated(call: Call): Call {
  switch (call.stage) {
    case 'proposed':
      return call.check.ok && !refers(call)
        ? { ...call, check: { ok: true, unchecked: true } }
        : call;
    case 'checked':
    case 'hooking':
    case 'hooked':
    case 'checking':
    case 'rechecked':
    case 'waiting':
    case 'granted':
      // What an earlier attempt may have done is found out under its own key.
      return call.inDoubt ? call : { ...call, outdated: true };
    case 'executing':
    case 'delegated':
    case 'returned':
    case 'doubt':
    case 'asking':
    case 'settled':
      return call;
  }
}

/** Then it is checked when its references have values. */
function refers({ flow }: Call): boolean {
  return flow !== undefined && flow.refs.length > 0;
}

/** The run calls it no more: another definition is another tool, and nobody has agreed to it. */
export function stopChangedTool(run: OpenRun, tool: string, message: string): OpenRun {
  const { changedTools = [] } = run;
  if (changedTools.includes(tool) || !follows(run, 'connectorsTold')) return run;
  const warned = warn(run, 'server_tool_changed', message);
  return { ...warned, changedTools: [...changedTools, tool] };
}
