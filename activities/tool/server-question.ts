/**
 * What a tool says that did nothing, and what the server of a tool asks a person in the middle of a call.
 * Invariant: an answer is held against the form of its question before it goes anywhere; one that does not fit is asked for
 * again, without a word to the server.
 */
import { RefusedCall, RETRYABLE, UNAVAILABLE, type ToolError } from '../../authoring/tool-error.js';
import {
  ChangedTool,
  nextQuestion,
  takeAnswer,
  type Exchange,
  type InputRequired,
} from '../../connectors/index.js';
import type { Json, StoredText } from '../../core/json/json.js';
import type { ExecuteToolInput, ToolOutcome } from '../../core/state/effect.js';
import type { StoreCalls } from '../../store/store.js';
import { storeText } from './store-result.js';
import { messageOf } from './tool-message.js';

/** Exchanges lie in the store; a run carries their names. */
const INLINE_BYTES = 64;

export function nothingBy(error: ToolError): Extract<ToolOutcome, { kind: 'error' }> {
  if (error instanceof RefusedCall) {
    return { kind: 'error', code: error.code, message: error.message };
  }
  const { code: said } = error;
  const code = said === RETRYABLE || said === UNAVAILABLE ? said : 'execution_error';
  const changed = error instanceof ChangedTool && { changed: true as const };
  return { kind: 'error', code, message: messageOf(error), ...changed };
}

/** The outcome of a call whose server asks. */
export async function askedByServer(
  store: StoreCalls,
  tenant: string,
  { exchange, connector }: InputRequired,
): Promise<ToolOutcome> {
  return (await questionOf(store, { tenant, connector, exchange })) ?? NO_QUESTION;
}

const NO_QUESTION: ToolOutcome = {
  kind: 'error',
  code: 'execution_error',
  message: 'The server of the tool asks for something and does not say what.',
};

interface Asking {
  readonly tenant: string;
  readonly connector: string;
  readonly exchange: Exchange;
  readonly problem?: string;
}

async function questionOf(
  store: StoreCalls,
  { tenant, connector, exchange, problem }: Asking,
): Promise<Extract<ToolOutcome, { kind: 'input_required' }> | undefined> {
  const elicitation = nextQuestion(connector, exchange, problem);
  if (elicitation === undefined) return undefined;
  const place = { store, tenant, inlineBytesMax: INLINE_BYTES };
  const stored = await storeText(place, JSON.stringify(exchange));
  return { kind: 'input_required', elicitation, exchange: stored };
}

export type Continuation =
  /** Another question comes first, or the same one again. */
  | { readonly kind: 'ask'; readonly outcome: ToolOutcome }
  | { readonly kind: 'go'; readonly exchange?: Exchange };

/** What a person's answer makes of the exchange that it belongs to. */
export async function goOn(
  store: StoreCalls,
  { run: { tenant }, call: { answered } }: ExecuteToolInput,
  connector: string,
): Promise<Continuation> {
  if (answered === undefined) return { kind: 'go' };
  const before = await readExchange(store, tenant, answered.exchange);
  const taken = await takeAnswer(before, answered.answer as Json);
  const asking = taken.ok
    ? { tenant, connector, exchange: taken.exchange }
    : { tenant, connector, exchange: before, problem: taken.problem };
  const outcome = await questionOf(store, asking);
  return outcome === undefined
    ? { kind: 'go', exchange: asking.exchange }
    : { kind: 'ask', outcome };
}

async function readExchange(
  store: StoreCalls,
  tenant: string,
  stored: StoredText,
): Promise<Exchange> {
  return JSON.parse(await store.getText(tenant, stored)) as Exchange;
}
