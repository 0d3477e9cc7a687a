/**
 * What a request of a chat client says.
 * Invariant: of the history that a client sends, only its last message is read, and of an assistant's message only
 * answers to questions, with the place up to which the client has seen the run.
 */
import { z } from 'zod';
import { Problem } from '../console/http/problem.js';
import type { Json } from '../core/json/json.js';
import { REASON_CHARS_MAX } from '../core/messages/reason-limit.js';
import { GOAL_CHARS_MAX } from '../pure/task-schema.js';
import { TEXT_HINT, textDefect } from '../pure/text-defect.js';
import { askOfApproval, type UiRefused } from './projection/index.js';

export interface SaidMessage {
  readonly id: string;
  readonly text: string;
  /** Words that a run has left unread, where the message begins the next one with them. */
  readonly before?: string;
  /** Absent: the message is new, or sent again. */
  readonly change?: MessageChange;
  /** The change holds, though nobody knows whether calls of the answer before took effect. */
  readonly acceptUnknown?: true;
}

/** The message has other words than before, or another answer is wanted; `of`: what the client calls the answer before. */
type MessageChange = { readonly kind: 'text' } | { readonly kind: 'answer'; readonly of?: string };

export interface SaidAnswer {
  readonly askId: string;
  readonly argsHash: string;
  readonly decision?: 'approve' | 'reject' | 'happened' | 'not_happened' | 'stop';
  /** To a question of the agent or of a tool's server. */
  readonly value?: Json;
  readonly reason?: string;
  /** Of a budget: how much more. */
  readonly amount?: number;
}

export interface Said {
  readonly chatId: string;
  /** A word of the user; absent: the client goes on with the message that it has. */
  readonly message?: SaidMessage;
  readonly answers: readonly SaidAnswer[];
  /** Approvals that are none. */
  readonly refused?: readonly UiRefused[];
  /** Up to where the client says that it has seen this run: what it is shown depends on it, nothing else. */
  readonly seen?: { readonly runId: string; readonly seq: number };
}

const ANSWERS_MAX = 32;
const PARTS_MAX = 20_000;
const ASK_ID_CHARS_MAX = 400;

/** As clients make them, and people: they are one line that can be written down. */
const id = z
  .string()
  .min(1)
  .max(200)
  .refine(
    (text) => !/\p{Cc}/u.test(text) && text.isWellFormed(),
    'Give a text without control characters.',
  );
const answer = z.object({
  askId: z.string().min(1).max(ASK_ID_CHARS_MAX),
  argsHash: z.string().regex(/^[0-9a-f]{64}$/),
  decision: z.enum(['approve', 'reject', 'happened', 'not_happened', 'stop']).optional(),
  value: z.json().optional(),
  reason: z.string().max(REASON_CHARS_MAX).optional(),
  amount: z.number().positive().optional(),
});
const request = z.object({
  id,
  messages: z.array(z.unknown()).default([]),
  // `resume-stream` is sent by no client, and is the third that they know.
  trigger: z.enum(['submit-message', 'regenerate-message', 'resume-stream']).nullish(),
  messageId: z.string().max(400).nullish(),
  answers: z.array(answer).max(ANSWERS_MAX).default([]),
  acceptUnknown: z.boolean().default(false),
});
const lastMessage = z.object({
  id,
  role: z.string(),
  parts: z.array(z.object({ type: z.string() }).loose()).max(PARTS_MAX),
});
const textPart = z.object({ type: z.literal('text'), text: z.string() });
const approvalPart = z.object({ state: z.literal('approval-responded'), approval: z.unknown() });
const approval = z.object({
  approved: z.boolean(),
  reason: z.string().max(REASON_CHARS_MAX).nullish(),
});
const runPart = z.object({
  type: z.literal('data-holdfast-run'),
  data: z.object({ runId: z.string().max(200), seq: z.number().int().min(-1) }),
});

type Message = z.infer<typeof lastMessage>;

/** Errors: a Problem. */
export function saidIn(body: unknown): Said {
  const {
    id: chatId,
    messages,
    trigger,
    messageId,
    answers,
    acceptUnknown,
  } = parsed(request, body);
  const at = messages.length - 1;
  const last = at < 0 ? undefined : parsed(lastMessage, messages[at], ['messages', at]);
  if (last?.role === 'user') {
    const message: SaidMessage = {
      ...messageOf(last),
      ...changeIn(trigger, messageId ?? undefined),
      ...(acceptUnknown && { acceptUnknown }),
    };
    return { chatId, message, answers: given(answers) };
  }
  if (trigger === 'regenerate-message') throw invalid('There is no message to answer anew.');
  if (last !== undefined && last.role !== 'assistant') {
    const detail = `The last message has the role ${JSON.stringify(last.role.slice(0, 40))}.`;
    throw invalid(detail, 'Send a message of the role user, or one of the assistant with answers.');
  }
  // A message keeps approvals that were answered long ago: what the request says now is not crowded out by them.
  const approvals = last === undefined ? [] : approvalsIn(last);
  const all = [...given(answers), ...approvals.flatMap((one) => ('decision' in one ? [one] : []))];
  const refused = approvals.flatMap((one) => ('message' in one ? [one] : []));
  if (last === undefined && all.length === 0) throw invalid('The request says nothing.');
  return {
    chatId,
    answers: all.slice(0, ANSWERS_MAX),
    refused: refused.slice(0, ANSWERS_MAX),
    ...(last !== undefined && seenIn(last)),
  };
}

/** Clients name a message that is there when they send it anew with other words. */
function changeIn(
  trigger: string | null | undefined,
  named: string | undefined,
): Pick<SaidMessage, 'change'> {
  if (trigger === 'regenerate-message') {
    return { change: { kind: 'answer', ...(named !== undefined && { of: named }) } };
  }
  return named === undefined ? {} : { change: { kind: 'text' } };
}

function messageOf({ id: name, parts }: Message): SaidMessage {
  const texts = parts.flatMap((part) => {
    const text = textPart.safeParse(part);
    if (text.success) return text.data.text;
    // That nobody has read it is said of it by this handler.
    if (part.type === 'data-holdfast-unread') return [];
    const isFile = part.type === 'file';
    const detail = isFile ? 'Files cannot be sent in this chat.' : 'Only texts can be sent.';
    const hint = 'Send a message that has texts alone.';
    throw new Problem(400, { code: 'unsupported', detail, hint });
  });
  const text = texts.join('\n\n');
  if (text.trim() === '') throw invalid('The message has no text.');
  const defect = textDefect(text);
  if (defect !== undefined) throw invalid(`The text of the message ${defect}.`, TEXT_HINT);
  // Of a message to an open run less is taken: the client of runs says how much.
  if (text.length > GOAL_CHARS_MAX) {
    throw invalid(`Send at most ${GOAL_CHARS_MAX} characters: the message has ${text.length}.`);
  }
  return { id: name, text };
}

function approvalsIn({ parts }: Message): readonly (SaidAnswer | UiRefused)[] {
  return parts.flatMap((part) => {
    const found = approvalPart.safeParse(part);
    return found.success ? [approvalIn(found.data.approval)] : [];
  });
}

function approvalIn(given: unknown): SaidAnswer | UiRefused {
  const id = idIn(given);
  const ask = askOfApproval(id);
  if (ask === undefined) {
    const message = 'No question has this id.';
    return { askId: id.slice(0, ASK_ID_CHARS_MAX), reason: 'unknown_ask', message };
  }
  const { data } = approval.safeParse(given);
  if (data === undefined) {
    const message = `approved is true or false, and reason has at most ${REASON_CHARS_MAX} characters.`;
    return { askId: ask.askId, reason: 'not_applicable', message };
  }
  const { approved, reason } = data;
  const decision = approved ? 'approve' : 'reject';
  return { ...ask, decision, ...(reason != null && { reason }) };
}

function idIn(given: unknown): string {
  const { id: said } = Object(given) as { readonly id?: unknown };
  return typeof said === 'string' ? said : '';
}

function seenIn({ parts }: Message): Pick<Said, 'seen'> {
  for (const part of parts) {
    const found = runPart.safeParse(part);
    if (found.success) return { seen: found.data.data };
  }
  return {};
}

function given(answers: z.infer<typeof request>['answers']): readonly SaidAnswer[] {
  return answers.map(({ askId, argsHash, decision, value, reason, amount }) => ({
    askId,
    argsHash,
    ...(decision !== undefined && { decision }),
    ...(value !== undefined && { value: value as Json }),
    ...(reason !== undefined && { reason }),
    ...(amount !== undefined && { amount }),
  }));
}

/** `place`: where the value stands in the request. */
function parsed<T>(schema: z.ZodType<T>, value: unknown, place: readonly PropertyKey[] = []): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues
    .slice(0, 5)
    .map(({ path, message }) => ({ path: [...place, ...path].join('.').slice(0, 100), message }));
  throw new Problem(400, {
    code: 'invalid',
    detail: 'The request is no request of a chat.',
    errors,
  });
}

function invalid(detail: string, hint?: string): Problem {
  return new Problem(400, { code: 'invalid', detail, ...(hint !== undefined && { hint }) });
}
