/** The end of the demo: what was decided, what the shop's books say, what it cost, where to look. */
import { costLine, inert, inertLines, usdText } from '../../../cli/render/index.js';
import { shopAt } from '../shop/client.js';
import type { Ended } from './request.js';
import type { Stage } from './stage.js';
import type { Terminal } from '../../demo/terminal.js';

const ANSWER_CHARS_MAX = 2_000;

export interface ReportOptions {
  readonly stage: Stage;
  readonly terminal: Terminal;
  readonly orderId: string;
  readonly ended: Ended;
}

/** Prints the report; gives the exit code of the demo. */
export async function report({ stage, terminal, orderId, ended }: ReportOptions): Promise<number> {
  const { decided, results, processId } = ended;
  const rows = await shopAt(stage.shopUrl).refundsOf(orderId);
  const say = (name: string, text: string): void => terminal.say(`${name.padEnd(10)}${text}`);
  terminal.say();
  // Words of a model: shown, never obeyed by the terminal.
  inertLines(decided.answer, ANSWER_CHARS_MAX).forEach((line, index) =>
    say(index === 0 ? 'Answer' : '', line),
  );
  say('Outcome', `${decided.outcome}: ${inert(decided.reason, ANSWER_CHARS_MAX)}`);
  say('Payments', `${rows.length} in the shop's books for ${orderId}`);
  for (const row of rows) {
    say('', `${row.refundId}  ${dollars(row.amountCents)}  idempotency key ${row.key}`);
  }
  const note = stage.model === 'scripted' ? ' (list prices; a scripted model bills nothing)' : '';
  say('Spent', `${usdText(decided.costMicroUsd)} in all${note}`);
  for (const { runId, counters } of results) say('', `${runId}  ${costLine(counters)}`);
  say('Look', `npx holdfast show ${decided.runs.at(-1) ?? processId}`);
  if (stage.server.how === 'started') {
    say('', `npx holdfast server   starts the server again, with Temporal's UI`);
  }
  const failed = results.find(({ status }) => status === 'failed');
  if (failed === undefined) return 0;
  terminal.say(`Run ${failed.runId} failed: ${failed.detail ?? failed.stopReason}`);
  return 1;
}

function dollars(cents: number): string {
  return `${(cents / 100).toFixed(2)} USD`;
}
