/**
 * A call as it is sent, and what becomes of the questions that its server answers it with.
 * Invariant: what a server asks is answered by its own form, or handed to people, or refused; nothing else goes back.
 */
import { ToolError } from '../authoring/tool-error.js';
import { valueOf } from './call-result.js';
import {
  noted,
  type Active,
  type Opening,
  type Parts,
  type ServerCall,
} from './connection-parts.js';
import {
  exchangeOf,
  hiddenIn,
  InputRequired,
  nextQuestion,
  personRequest,
  REQUESTS_MAX,
} from './exchange.js';
import { faultOf } from './fault.js';
import { answeredByForms } from './own-answers.js';

/** Each round answers at least one question, of which forms answer a few. */
export async function sendCall(
  opening: Opening,
  parts: Parts,
  { call, answers }: Active,
): Promise<unknown> {
  const { connector, secrets } = opening;
  let { exchange } = call;
  for (;;) {
    const result = await send(opening, parts, { ...call, ...(exchange && { exchange }) });
    if (!parts.sdk.isInputRequiredResult(result))
      return valueOf(result as Parameters<typeof valueOf>[0], secrets);
    const asked = exchangeOf(result);
    if (typeof asked === 'string') throw new ToolError(`The server cannot be answered: ${asked}.`);
    exchange = await answeredByForms(asked, answers);
    const isAnswered = nextQuestion(connector.name, exchange) === undefined;
    if (isAnswered && exchange.requests.length > 0) continue;
    const requests = exchange.requests.map(({ key, request }) => ({
      key,
      request: hiddenIn(request, secrets),
    }));
    throw new InputRequired(connector.name, { ...exchange, requests });
  }
}

async function send(
  { secrets, authorization }: Opening,
  { sdk, client, state }: Parts,
  call: ServerCall,
): Promise<unknown> {
  const { tool: name, args, exchange, signal, timeoutMs: timeout } = call;
  const resumed = exchange?.era === 'modern' && {
    inputResponses: exchange.responses,
    ...(exchange.state !== undefined && { requestState: exchange.state }),
  };
  const params = { name, arguments: args as { [key: string]: unknown }, ...resumed };
  try {
    return await client.callTool(params, {
      signal,
      timeout,
      maxTotalTimeout: timeout,
      allowInputRequired: true,
      // The list was perhaps taken by another process; results are held against its schema where they are stored.
      toolDefinition: { name, inputSchema: call.definition.inputSchema } as never,
      onprogress: ({ progress, total, message = '' }) =>
        noted(state, `${progress}${total === undefined ? '' : `/${total}`} ${message}`),
    });
  } catch (error) {
    throw (await authorization?.refused?.(error, sdk)) ?? faultOf(error, { sdk, secrets });
  }
}

/** A legacy server was told `cancel`: whatever a read returned, people are asked, and the call begins anew. */
export function legacyQuestion(
  { connector: { name }, secrets }: Opening,
  { call, asked }: Active,
): Error {
  const requests: { key: string; request: Exclude<ReturnType<typeof personRequest>, string> }[] =
    [];
  if (asked.length > REQUESTS_MAX)
    return new ToolError(
      `The server of ${name} cannot be answered: it asks more than ${REQUESTS_MAX} questions.`,
    );
  for (const { key, params } of asked) {
    const request = personRequest('elicitation/create', params);
    if (typeof request === 'string')
      return new ToolError(`The server of ${name} cannot be answered: ${request}.`);
    requests.push({ key, request: hiddenIn(request, secrets) });
  }
  const responses = call.exchange?.responses ?? {};
  return new InputRequired(name, { v: 1, era: 'legacy', requests, responses });
}
