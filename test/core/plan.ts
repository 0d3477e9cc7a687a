/** What tests of dataflow share: plans, and what became of them. */
import type { Json } from '../../core/json/json.js';
import type { Script } from './script.js';
import { createShell, ofType, type Shell } from './shell.js';

export const from = (path: string): Json => ({ $from: `state.${path}` });

export function planned(script: Partial<Script> & Pick<Script, 'model'>): Shell {
  const settings = { toolExecution: 'dataflow', ...script.settings } as const;
  return createShell({ ...script, settings });
}

/** Events of executions in order, as `+a` and `-a`. */
export function traceOf(shell: Shell): string {
  return shell.events
    .flatMap((event) => {
      if (event.type === 'tool_started') return [`+${event.callId}`];
      return event.type === 'tool_finished' && event.started ? [`-${event.callId}`] : [];
    })
    .join(' ');
}

export function contentOf(shell: Shell, callId: string): unknown {
  const event = ofType(shell, 'tool_finished').find((one) => one.callId === callId);
  return event && 'text' in event.content ? JSON.parse(event.content.text) : undefined;
}

export function argsOf(shell: Shell, callId: string): unknown {
  return ofType(shell, 'tool_started').find((event) => event.callId === callId)?.args;
}
