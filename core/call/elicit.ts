/**
 * The server of a tool asks a person in the middle of a call (MCP's elicitation). The question stands like one of the model;
 * its answer goes to the server, and the call goes on.
 * Invariants: nothing of the call has happened that counts when it is asked, so that going on is the next attempt under the
 * same key; a call asks at most ten times; of a call that changes something, whoever may approve it answers; what the server said to the runtime stays in the store, byte by byte.
 */
import { openAsk } from '../ask/open-ask.js';
import { toolOf } from '../permission/permission.js';
import type { Ask } from '../state/ask.js';
import type { AskingStage, ReturnedStage } from '../state/call.js';
import type { OpenExchange } from '../state/elicitation.js';
import type { OpenRun } from '../state/run.js';
import { follows } from '../step/changes.js';
import { only } from '../step/inflight.js';
import { baseOf, revisedKey, withCall, type StationResult } from '../step/open-work.js';
import { isMutating } from '../state/tool.js';
import { answerersOf } from './ask-person.js';
import { errorResult, settleCall } from './result.js';

const QUESTIONS_MAX = 10;

export function elicit(
  run: OpenRun,
  call: ReturnedStage,
  { elicitation, exchange }: OpenExchange,
): StationResult {
  const elicited = (call.elicited ?? 0) + 1;
  const refusal = refusalOf(run, call, elicited);
  if (refusal !== undefined) {
    const error = errorResult(run, call, { code: 'execution_error', message: refusal });
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
    ...whoAnswers(run, call),
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

/** Why nobody is asked; undefined: a person is. */
function refusalOf(run: OpenRun, call: ReturnedStage, elicited: number): string | undefined {
  if (elicited > QUESTIONS_MAX || !follows(run, 'elicitation'))
    return `The server of ${call.tool} asked more than ${QUESTIONS_MAX} questions in one call.`;
  return run.frozen.settings.requireProof && changes(run, call)
    ? `The server of ${call.tool} asks a person before it changes anything. This run wants signed decisions (requireProof), and answers to servers cannot be signed: nothing was done.`
    : undefined;
}

function changes(run: OpenRun, { tool }: ReturnedStage): boolean {
  const record = toolOf(run, tool);
  return record === undefined || isMutating(record);
}

/** The answer decides what an approved call does: it is for those who may approve it, and not for whom it is done. */
function whoAnswers(
  run: OpenRun,
  call: ReturnedStage,
): Pick<Ask, 'roles' | 'answeredBy' | 'requestedBy'> {
  const declared = answerersOf(run, call);
  if (declared.answeredBy !== undefined || !changes(run, call)) return declared;
  const approval = toolOf(run, call.tool)?.approval;
  const { caller } = run.start.task;
  return {
    roles: typeof approval === 'object' ? approval.roles : [],
    answeredBy: 'staff',
    ...(caller !== undefined && { requestedBy: caller }),
  };
}
