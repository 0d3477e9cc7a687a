/** Judges what the model was asked, and what is left of the conversation. */
import type { Json } from '../../core/json/json.js';
import type { SeenMessage, SeenRequest } from '../engine.js';
import type { Expected } from '../fixture.js';
import type { RequestMatcher } from '../format/expected.js';
import { difference, equal, NO_DIFFERENCE, type Difference } from './difference.js';
import type { Seen } from './seen.js';

type WantedRequests = NonNullable<Expected['model_requests']>;

/** A number counts them all; matchers look at the first ones, position by position. */
export function judgeRequests(
  wanted: WantedRequests,
  { observation: { requests } }: Seen,
): readonly Difference[] {
  if (typeof wanted === 'number') return equal('model_requests', wanted, requests.length);
  return wanted.flatMap((matcher, index) => {
    const path = `model_requests[${index}]`;
    const request = requests[index];
    return request === undefined
      ? difference(path, matcher as Json, `only ${requests.length} requests`)
      : judgeRequest(path, matcher, request);
  });
}

function judgeRequest(
  path: string,
  matcher: RequestMatcher,
  request: SeenRequest,
): readonly Difference[] {
  const { maxTokens, model, roles, files, contains = [], notContains = [] } = matcher;
  const text = textOf(request);
  return [
    ...judgeTools(path, matcher, request.tools),
    ...(maxTokens === undefined ? [] : equal(`${path}.maxTokens`, maxTokens, request.maxTokens)),
    ...(model === undefined ? [] : equal(`${path}.model`, model, request.model)),
    ...(roles === undefined ? [] : equal(`${path}.roles`, roles, lettersOf(request.messages))),
    ...(files === undefined ? [] : equal(`${path}.files`, files, filesOf(request))),
    ...contains.flatMap((piece) =>
      text.includes(piece) ? [] : difference(`${path}.contains`, piece, text),
    ),
    ...notContains.flatMap((piece) =>
      text.includes(piece) ? difference(`${path}.notContains`, piece, text) : [],
    ),
  ];
}

function filesOf({ messages }: SeenRequest): readonly string[] {
  return messages.flatMap(({ files = [] }) => files);
}

/** The named tools are among those offered; an empty list says that none is. */
function judgeTools(
  path: string,
  { toolsOffered, toolsNotOffered = [] }: RequestMatcher,
  offered: readonly string[],
): readonly Difference[] {
  const missing = toolsOffered?.some((tool) => !offered.includes(tool)) ?? false;
  const tooMany = toolsOffered?.length === 0 && offered.length > 0;
  const hidden = toolsNotOffered.filter((tool) => offered.includes(tool));
  return [
    ...(missing || tooMany
      ? difference(`${path}.toolsOffered`, toolsOffered ?? [], offered)
      : NO_DIFFERENCE),
    ...(hidden.length > 0
      ? difference(`${path}.toolsNotOffered`, toolsNotOffered, offered)
      : NO_DIFFERENCE),
  ];
}

/** Everything that a request says, arguments as JSON. */
function textOf({ system, messages }: SeenRequest): string {
  return [system, ...messages.flatMap(piecesOf)].join('\n');
}

function piecesOf({ text, calls, results }: SeenMessage): readonly string[] {
  return [
    text,
    ...calls.map((call) => `${call.tool} ${JSON.stringify(call.args)}`),
    ...results.map((result) => result.text),
  ];
}

export function lettersOf(messages: readonly SeenMessage[]): string {
  return messages.map((message) => message.letter).join(' ');
}

export function judgeHistory(wanted: string, { observation }: Seen): readonly Difference[] {
  return equal('history', wanted, lettersOf(observation.transcript));
}

export function judgePersisted(wanted: number, { observation }: Seen): readonly Difference[] {
  return equal('persisted', wanted, observation.persisted);
}

export function judgeSessions(
  wanted: NonNullable<Expected['sessions']>,
  { observation }: Seen,
): readonly Difference[] {
  return equal('sessions.resumed_with', wanted.resumed_with, observation.resumedWith);
}
