/**
 * Questions of a server that their own forms answer (`elicitation: 'defaults'`).
 * Invariants: an answer has the defaults of the form and nothing else; each one is told as a note of its call; a person is asked
 * where a default is missing or does not fit, before a change of a run that wants signed decisions, and from the sixth question on.
 */
import type { Connector } from '../authoring/connectors.js';
import type { Json } from '../core/json/json.js';
import {
  contentOf,
  type Exchange,
  type FormRequest,
  type PersonRequest,
  type PersonResponse,
} from './exchange.js';
import { schemaCheck } from './schema-check.js';

/** In one call. */
export const OWN_ANSWERS_MAX = 5;
const CONTENT_CHARS_MAX = 90;
const MESSAGE_CHARS_MAX = 60;

export interface AnsweredCall {
  readonly changes: boolean;
  /** Whether the run takes signed decisions alone. */
  readonly wantsProof: () => Promise<boolean>;
  readonly note: (text: string) => void;
}

/** Undefined: the question is for a person. */
export type OwnAnswers = (request: PersonRequest) => Promise<PersonResponse | undefined>;

/** Of one call. */
export function ownAnswers({ elicitation }: Connector, call: AnsweredCall): OwnAnswers {
  let given = 0;
  return async (request) => {
    if (elicitation !== 'defaults' || request.mode !== 'form') return undefined;
    const content = await defaultsOf(request);
    if (content === undefined || (call.changes && (await isForPeople(call)))) return undefined;
    // Questions may come side by side: between this look and the count nothing waits.
    if (given >= OWN_ANSWERS_MAX) return undefined;
    given += 1;
    call.note(told(request, content));
    return { action: 'accept', content };
  };
}

/** The exchange with what its forms answer; the one that came where none does. */
export async function answeredByForms(exchange: Exchange, answers: OwnAnswers): Promise<Exchange> {
  const responses: Record<string, PersonResponse> = { ...exchange.responses };
  for (const { key, request } of exchange.requests) {
    const response = await answers(request);
    if (response !== undefined) responses[key] = response;
  }
  return { ...exchange, responses };
}

/** A form without a default asks for consent, however little it requires. */
async function defaultsOf(request: FormRequest): Promise<Json | undefined> {
  try {
    const content = contentOf(request, {});
    if (Object.keys(content as object).length === 0) return undefined;
    const check = await schemaCheck(request.schema);
    return check(content) === undefined ? content : undefined;
  } catch {
    // A person sees what is wrong with it.
    return undefined;
  }
}

async function isForPeople({ wantsProof }: AnsweredCall): Promise<boolean> {
  return wantsProof().catch(() => true);
}

function told({ message }: FormRequest, content: Json): string {
  const values = cut(JSON.stringify(content), CONTENT_CHARS_MAX);
  return `The defaults of its form answer the server: ${values} to "${cut(message, MESSAGE_CHARS_MAX)}"`;
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
