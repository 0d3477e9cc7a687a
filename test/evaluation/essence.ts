import type { Observation } from '../../evaluation/engine.js';

/** What a case comes to, short enough to be written beside it. */
export interface Essence {
  readonly stop: string;
  readonly history: string;
  /** `call tool key attempts`, in order of the first attempt. */
  readonly executed?: readonly string[];
  readonly effects?: { readonly [tool: string]: number };
  /** By call: `ok` or its code. */
  readonly results?: { readonly [call: string]: string };
}

export function essenceOf(observed: Observation): Essence {
  const { result, events, transcript, executions, effects } = observed;
  const words = [result?.stopReason, result?.detail, result?.phase].filter((word) => word);
  const finished = events.flatMap((event) =>
    event.type === 'tool_finished' ? [[event.callId, event.code ?? event.status] as const] : [],
  );
  return {
    stop: words.join(' ') || (observed.startError?.code ?? 'nothing'),
    history: transcript.map((message) => message.letter).join(' '),
    ...(executions.length > 0 && {
      executed: executions.map(
        ({ callId, tool, key, attempts }) => `${callId} ${tool} ${key} ${attempts}`,
      ),
    }),
    ...(Object.keys(effects).length > 0 && { effects }),
    ...(finished.length > 0 && { results: Object.fromEntries(finished) }),
  };
}
