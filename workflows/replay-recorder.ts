/**
 * Only in the replayer: tells it every command that the workflow's code gives, so that their data
 * can be compared with the history. Temporal's own check looks at their order, types and ids alone.
 */
import { proxySinks, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';
import { isReplayer } from './replayer.js';

/** A command in the form of the SDK's protocol; only the replayer looks into it. */
export type RecordedCommand = object;

export interface ReplaySinks extends Sinks {
  replay: {
    commands(commands: readonly RecordedCommand[]): void;
  };
}

export function interceptors(): WorkflowInterceptors {
  if (!isReplayer()) return {};
  const { replay } = proxySinks<ReplaySinks>();
  return {
    internals: [
      {
        concludeActivation(input, next) {
          const output = next(input);
          if (output.commands.length > 0) replay.commands(output.commands);
          return output;
        },
      },
    ],
  };
}
