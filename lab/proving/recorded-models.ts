/** The scripted model of all runs: one server in the harness, so that it outlives the workers. */
import { startScriptedModel, type ScriptedModel, type ScriptedReply } from '../../testing/index.js';
import type { KillSwitch } from './kill-switch.js';
import type { PlayedRun } from './played-run.js';
import { NO_MODEL_FAULTS, withFault, type ModelFaults } from './model-faults.js';
import {
  conversationOf,
  differenceFrom,
  recordedReply,
  type SeenMessage,
} from './recorded-model.js';
import { NO_FAULTY_CALLS, type FaultyCalls } from './tool-faults.js';

/** A run while it is played. */
export interface OnStage {
  readonly run: PlayedRun;
  readonly kill: KillSwitch;
  readonly modelFaults: ModelFaults;
  readonly calls: FaultyCalls;
  /** Calls whose result may be another than the recorded one. */
  readonly excused: ReadonlySet<string>;
  /** Its replies arrive in pieces. */
  readonly inPieces: boolean;
  /** Told of each request. */
  readonly onRequest: () => void;
  /** What the last request said. */
  conversation: readonly string[];
  /** Requests that the runtime made for this run. */
  modelRequests: number;
  readonly differences: string[];
}

/** A run before its first request, without any fault unless it is given. */
export function onStage(
  given: Pick<OnStage, 'run' | 'kill'> & Partial<Omit<OnStage, 'run' | 'kill'>>,
): OnStage {
  return {
    modelFaults: NO_MODEL_FAULTS,
    calls: NO_FAULTY_CALLS,
    excused: new Set(),
    inPieces: false,
    onRequest: () => undefined,
    conversation: [],
    modelRequests: 0,
    differences: [],
    ...given,
  };
}

/** Runs on stage by run id. */
export type Stage = Map<string, OnStage>;

const DIFFERENCES_MAX = 3;
/** So far apart that a busy worker reads more than one of them. */
const PIECES = { chunks: 4, chunkDelayMs: 25 } as const;
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
      played.onRequest();
      compare(played, assistantMessages, messages);
      const recorded = recordedReply(played.run, assistantMessages);
      if (recorded === undefined) return refusal(`no reply ${assistantMessages} was recorded`);
      const reply = played.inPieces ? { ...recorded, ...PIECES } : recorded;
      const answer = withFault(reply, played.modelFaults.get(assistantMessages));
      const when = played.kill.reached('model', assistantMessages);
      if (when === undefined) return answer;
      void played.kill.fire();
      return when === 'before' ? { ...reply, delayMs: HELD_MS } : answer;
    },
  });
}

/** With what was recorded, and with what this run said before. */
function compare(played: OnStage, count: number, messages: readonly SeenMessage[]): void {
  const said = conversationOf(messages);
  const forgotten = played.conversation.findIndex((entry, at) => entry !== said[at]);
  played.conversation = said;
  const difference =
    differenceFrom({ ...played.run, excused: played.excused }, count, messages) ??
    (forgotten < 0 ? undefined : `message ${forgotten} is not the one that was sent before`);
  if (difference !== undefined && played.differences.length < DIFFERENCES_MAX) {
    played.differences.push(`model request ${count}: ${difference}`);
  }
}

function refusal(message: string): ScriptedReply {
  return { status: 400, errorType: 'invalid_request_error', message, exhausted: true };
}
