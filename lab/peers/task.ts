/** The task of every peer: some reads, one a turn, and where asked for, one payment that a person approves. */
export const READ = 'orders_read';
export const PAY = 'refunds_pay';
export const MODEL = 'claude-haiku-4-5';
export const INSTRUCTIONS = 'Look at the orders one after the other, then do what is asked for.';
/** Of an order's text. */
const ORDER_BYTES = 500;

export interface Task {
  readonly run: string;
  readonly reads: number;
  readonly pays: boolean;
}

/** The model's server knows a task by these words. */
export function goalOf({ run, reads, pays }: Task): string {
  return `Run ${run}: look at ${reads} orders${pays ? ', then pay the refund' : ''}.`;
}

export function taskOf(goal: string): Task | undefined {
  const [, run, reads, pays] = /Run (\S+): look at (\d+) orders(, then pay)?/.exec(goal) ?? [];
  if (run === undefined) return undefined;
  return { run, reads: Number(reads), pays: pays !== undefined };
}

export function orderText(orderId: string): string {
  const order = { orderId, customer: 'C-17', lines: '' };
  const lines = 'x'.repeat(ORDER_BYTES - JSON.stringify(order).length);
  return JSON.stringify({ ...order, lines });
}

export interface PaymentAsked {
  readonly serviceUrl: string;
  readonly run: string;
  readonly amountCents: number;
  readonly key?: string;
}

export async function pay({ serviceUrl, ...asked }: PaymentAsked): Promise<unknown> {
  const response = await fetch(`${serviceUrl}/pay`, {
    method: 'POST',
    body: JSON.stringify(asked),
  });
  if (!response.ok) throw new Error(`The payment service answered ${response.status}.`);
  return response.json();
}
