/** A chat for clients of the AI SDK: `useChat` with its default transport, without code of its own. */
import { notFound, Problem, problemOf, problemResponse } from '../console/http/problem.js';
import { HoldfastError } from '../core/state/errors.js';
import { answerAll, type Answered } from './answers.js';
import { bodyOf, callerOf } from './caller.js';
import { awayOf, chatOf, isRunOf, isStoreAway, newestInTime, type Chat } from './chat.js';
import { deliveries, type Deliveries, type Speaking } from './deliveries.js';
import { checkOptions, type ChatHandlerOptions, type CheckedOptions } from './options.js';
import { places, type Places } from './places.js';
import { profileOf, stream } from './opening.js';
import { refusedChunk } from './projection/asks.js';
import { resumable } from './resumable.js';
import { saidIn, type Said } from './said.js';
import { wholeResponse } from './sse.js';
import { interruptAll } from './stopping.js';
import { storedMessages } from './stored.js';
import { submit, submitAgain } from './submit.js';
import { unreadAtStop, unreadPart } from './unread.js';

/** Answers requests of a web front end. Made by `chatHandler`. */
export type ChatHandler = (request: Request) => Promise<Response>;

interface Served {
  readonly options: CheckedOptions;
  readonly places: Places;
  readonly deliveries: Deliveries;
}

/**
 * Makes a handler of requests for one agent: POST to any path sends a message or answers, GET `…/ID/stream` resumes,
 * GET `…/ID/messages` gives the stored conversation, POST `…/ID/stop` interrupts. Errors: InvalidConfig.
 */
export function chatHandler(given: ChatHandlerOptions): ChatHandler {
  const options = checkOptions(given);
  const served: Served = {
    options,
    places: places(options.limits),
    deliveries: deliveries(),
  };
  return async (request) => {
    try {
      return await answer(served, request);
    } catch (error) {
      return problemResponse(told(options, error));
    }
  };
}

const AWAY = (): Problem =>
  new Problem(503, {
    code: 'unavailable',
    detail: 'A part of the system does not answer. Nothing is lost; try again in a moment.',
    hint: 'Send the same request again: what it says counts once.',
    headers: { 'retry-after': '5' },
  });

/** What nobody expected keeps its words to itself. */
function told({ say }: CheckedOptions, error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof HoldfastError && error.code === 'SessionBusy') {
    return new Problem(409, { code: 'busy', detail: 'An answer in this chat is still under way.' });
  }
  // Of stores and desks the reader of a chat knows nothing.
  if (isStoreAway(error)) return AWAY();
  const problem = problemOf(error, () => 'chat');
  if (problem.status !== 500) return problem;
  say(`A request of a chat failed: ${error instanceof Error ? error.message : 'no error'}`);
  return new Problem(500, { code: 'internal', detail: 'The request failed.' });
}

/** A character of an id takes up to nine of a path. */
const CHAT_PATH = /\/([^/]{1,1800})\/(stream|messages|stop)\/?$/;

async function answer(served: Served, request: Request): Promise<Response> {
  const { options } = served;
  const who = await callerOf(options, request);
  if (who instanceof Response) return who;
  const [, encoded, what] = CHAT_PATH.exec(new URL(request.url).pathname) ?? [];
  const { method } = request;
  if (method === 'POST' && what !== 'stream' && what !== 'messages') {
    if (what === 'stop') return stop(served, chatOf(options, who, chatIdIn(encoded)));
    const said = saidIn(await bodyOf(options, request));
    return speak(served, request, { chat: chatOf(options, who, said.chatId), said });
  }
  const allow = what === undefined || what === 'stop' ? 'POST' : 'GET';
  // Whoever asks for a path that is no chat's hears no more than that.
  if (method !== allow)
    throw method === 'GET' && what === undefined ? notFound() : otherMethod(allow);
  const chat = await newestInTime(served.deliveries, chatOf(options, who, chatIdIn(encoded)));
  return what === 'stream' ? resume(served, request, chat) : messages(served, chat);
}

function otherMethod(allow: 'GET' | 'POST'): Problem {
  const detail = `This path takes ${allow}.`;
  return new Problem(405, { code: 'method_not_allowed', detail, headers: { allow } });
}

const CHAT_ID_CHARS_MAX = 200;

function chatIdIn(encoded = ''): string {
  try {
    const id = decodeURIComponent(encoded);
    if (id.length <= CHAT_ID_CHARS_MAX && !/\p{Cc}/u.test(id)) return id;
  } catch {
    // No text in the coding of addresses.
  }
  throw notFound();
}

async function speak(
  served: Served,
  request: Request,
  { chat, said }: { readonly chat: Chat; readonly said: Said },
): Promise<Response> {
  const { message } = said;
  // Before anything of the request counts.
  profileOf(served.options, request);
  const free = served.places.take(chat.person);
  try {
    const answered = await answerAll(chat, said.answers);
    const { decided } = answered;
    const refused = [...(said.refused ?? []), ...answered.refused];
    const about = { decided, refused };
    if (message !== undefined) {
      const at = await submit(served, chat, message);
      const again = (unheard: Speaking) => submitAgain(served, chat, { message, unheard });
      return stream(served, request, { chat, at, again, free, about });
    }
    const at = await newestBehind(served, chat, answered)
      .then((newest) => goneOnWith(served, newest, { said, answered: [...answered.runs] }))
      .catch((error: unknown) => {
        if (isStoreAway(error) && isWorthTelling({ ...answered, refused })) return undefined;
        throw error;
      });
    if (at === undefined) {
      free();
      return withoutConversation(answered.isSent, refused);
    }
    const seen = said.seen?.runId === at.runId ? { seen: said.seen.seq } : {};
    return stream(served, request, { chat, at, free, about: { ...seen, ...about } });
  } catch (error) {
    free();
    throw error;
  }
}

/** A store that was away for the answers is not waited for again. Errors: StoreUnavailable. */
async function newestBehind(served: Served, chat: Chat, { storeAway }: Answered): Promise<Chat> {
  if (storeAway) throw awayOf(chat);
  return newestInTime(served.deliveries, chat);
}

/** Where nothing is known of any answer, all may be sent again. */
function isWorthTelling({ isSent, decided, refused }: Omit<Answered, 'storeAway'>): boolean {
  return isSent || decided.size > 0 || refused.some(({ reason }) => reason !== 'unavailable');
}

const SENT = 'The answer was sent, and its run says whether it counts.';
const NOT_SENT = 'No answer was sent now: its question has ended, or it was refused.';
const LATER = 'The conversation cannot be shown now: load it again in a moment.';

/** An error ends it: a client that saw none would send its answers again at once. */
function withoutConversation(isSent: boolean, refused: Answered['refused']): Response {
  const errorText = `${isSent ? SENT : NOT_SENT} ${LATER}`;
  return wholeResponse(202, [...refused.map(refusedChunk), { type: 'error', errorText }]);
}

/** The message that a client has and goes on with: of the run that it names, if the run is this chat's. */
async function goneOnWith(
  { deliveries: known }: Served,
  chat: Chat,
  { said: { seen }, answered }: { readonly said: Said; readonly answered: readonly string[] },
): Promise<Speaking> {
  if (seen !== undefined && isRunOf(chat, seen.runId)) return { runId: seen.runId, span: 'last' };
  // Questions of a sub-agent are told of its root.
  const [first] = answered;
  if (first !== undefined) return { runId: first.replace(/(:a\d+)+$/, ''), span: 'last' };
  const open = await resumable(known, chat, false);
  if (open === undefined) throw notFound();
  return open;
}

async function resume(served: Served, request: Request, chat: Chat): Promise<Response> {
  const at = await resumable(served.deliveries, chat, profileOf(served.options, request) === 'v7');
  if (at === undefined) return new Response(null, { status: 204 });
  const free = served.places.take(chat.person);
  return stream(served, request, { chat, at, free, about: {} });
}

const NO_STORE = { 'cache-control': 'no-store' };

async function messages({ deliveries: known }: Served, chat: Chat): Promise<Response> {
  const body = { messages: await storedMessages(known, chat) };
  return Response.json(body, { headers: NO_STORE });
}

async function stop({ deliveries: known }: Served, given: Chat): Promise<Response> {
  await interruptAll(known, given);
  const unread = await newestInTime(known, given)
    .then(unreadAtStop)
    .catch((error: unknown) => {
      // The run has been told to stop, whatever can be read now.
      if (error instanceof HoldfastError) return [];
      throw error;
    });
  const part = unreadPart(unread);
  if (part === undefined) return new Response(null, { status: 204 });
  return Response.json({ unread: part.data.messages }, { headers: NO_STORE });
}
