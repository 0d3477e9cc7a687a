/** What a scripted reply may know: the goal and what the tools returned, read from the request itself. */
import type { Json } from '../../index.js';
import type { Script } from '../../testing/index.js';
import type { Delivery, Order, Refund } from './shop/client.js';

export interface Facts {
  /** The first message of the user. */
  readonly goal: string;
  readonly orderId: string;
  readonly order: Order | undefined;
  readonly delivery: Delivery | undefined;
  readonly refund: Refund | undefined;
  /** The newest tool error. */
  readonly lastError: string | undefined;
}

type Request = Parameters<Script>[0];
type Block = { readonly [name: string]: Json };

export function factsOf(request: Request): Facts {
  const blocks = request.messages.flatMap(({ content }) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content.filter(isBlock),
  );
  const goal = textIn(blocks.find((block) => block['type'] === 'text'));
  const answers = blocks.filter((block) => block['type'] === 'tool_result');
  const results = answers.filter((block) => block['is_error'] !== true).map(jsonIn);
  const error = answers.findLast((block) => block['is_error'] === true);
  return {
    goal,
    orderId: /\bO-\d+\b/.exec(goal)?.[0] ?? 'O-0',
    order: results.find((value): value is Order => has(value, 'totalCents')),
    delivery: results.find((value): value is Delivery => has(value, 'daysLate')),
    refund: results.find((value): value is Refund => has(value, 'refundId')),
    lastError: error === undefined ? undefined : textIn(error),
  };
}

/** A failure that retries cannot mend, so that a run that asks too often ends at once. */
export function exhaustedScript(count: number): ReturnType<Script> {
  return {
    status: 400,
    errorType: 'invalid_request_error',
    message: `the demo's script has only ${count} replies`,
    exhausted: true,
  };
}

function isBlock(value: Json): value is Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textIn(block: Block | undefined): string {
  const value = block?.['text'] ?? block?.['content'];
  return typeof value === 'string' ? value : '';
}

/** What a tool answered; a call that a person corrected is answered with a line about that first. */
function jsonIn(block: Block): unknown {
  const lines = textIn(block).split('\n');
  try {
    return JSON.parse(lines.at(-1)!);
  } catch {
    return undefined;
  }
}

function has(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && name in value;
}
