/** The scripted model of all runs: one server in the harness, so that it outlives the workers. */
import { startScriptedModel, type ScriptedModel, type ScriptedReply } from '../testing/index.js';
import type { KillSwitch } from './kill-switch.js';
import type { PlayedRun } from './played-run.js';
import { differenceFrom, recordedReply } from './recorded-model.js';

/** A run while it is played. */
export interface OnStage {
  readonly run: PlayedRun;
  readonly kill: KillSwitch;
  /** Requests that the runtime made for this run. */
  modelRequests: number;
  readonly differences: string[];
}

/** Runs on stage by run id. */
export type Stage = Map<string, OnStage>;

const DIFFERENCES_MAX = 3;
/** A reply that is held back until the worker is dead; the server drops it when the connection is gone. */
const HELD_MS = 10_000;

/** Starts the server; it answers the runs that are on stage. */
export function startRecordedModels(stage: Stage): Promise<ScriptedModel> {
  return startScriptedModel({
    log: { bodies: false, limit: 1 },
    script: ({ runId, assistantMessages, messages }) => {
      const played = stage.get(runId);
      if (played === undefined) return refusal(`no run ${runId} is played`);
      played.modelRequests += 1;
      const difference = differenceFrom(played.run, assistantMessages, messages);
      if (difference !== undefined && played.differences.length < DIFFERENCES_MAX) {
        played.differences.push(`model request ${assistantMessages}: ${difference}`);
      }
      const reply = recordedReply(played.run, assistantMessages);
      if (reply === undefined) return refusal(`no reply ${assistantMessages} was recorded`);
      const when = played.kill.reached('model', assistantMessages);
      if (when === undefined) return reply;
      void played.kill.fire();
      return when === 'before' ? { ...reply, delayMs: HELD_MS } : reply;
    },
  });
}

function refusal(message: string): ScriptedReply {
  return { status: 400, errorType: 'invalid_request_error', message, exhausted: true };
}
