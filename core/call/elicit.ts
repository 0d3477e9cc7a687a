/**
 * The server of a tool asks a person in the middle of a call (MCP's elicitation). The question stands like one of the model;
 * its answer goes to the server, and the call goes on.
 * Invariants: nothing of the call has happened that counts when it is asked, so that going on is the next attempt under the
 * same key; a call asks at most ten times; what the server said to the runtime stays in the store, byte by byte.
 */
import { openAsk } from '../ask/open-ask.js';
import type { AskingStage, ReturnedStage } from '../state/call.js';
import type { OpenExchange } from '../state/elicitation.js';
import type { OpenRun } from '../state/run.js';
import { follows } from '../step/changes.js';
import { only } from '../step/inflight.js';
import { baseOf, revisedKey, withCall, type StationResult } from '../step/open-work.js';
import { errorResult, settleCall } from './result.js';

const QUESTIONS_MAX = 10;

export function elicit(
  run: OpenRun,
  call: ReturnedStage,
  { elicitation, exchange }: OpenExchange,
): StationResult {
  const elicited = (call.elicited ?? 0) + 1;
  if (elicited > QUESTIONS_MAX || !follows(run, 'elicitation')) {
    const message = `The server of ${call.tool} asked more than ${QUESTIONS_MAX} questions in one call.`;
    const error = errorResult(run, call, { code: 'execution_error', message });
    return { kind: 'moved', step: only(settleCall(run, call, error)) };
  }
  const askId = `${run.runId}:${revisedKey(call)}:elicit:${elicited}`;
  const asked = openAsk(run, {
    id: askId,
    kind: 'input',
    callKey: call.callKey,
    callId: call.id,
    tool: call.tool,
    toolVersion: call.toolVersion,
    args: call.args,
    question: elicitation.message,
    digest: call.digest,
    roles: [],
    quorum: 1,
    elicitation,
    expiresInMs: run.frozen.settings.inputTimeoutMs,
    onExpiry: 'stop',
  });
  const { answered: _, ...base } = baseOf(call);
  const { grant } = call;
  const asking: AskingStage = {
    ...base,
    elicited,
    stage: 'asking',
    askId,
    askedAt: run.now,
    exchange,
    grant,
  };
  return { kind: 'moved', step: { run: withCall(asked.run, asking), effects: asked.effects } };
}
