/**
 * What the scripted model does each morning, so that the example runs without a key. It looks at old invoices and letters,
 * does what the instructions say, and ends: a function of what it was shown in this cycle.
 */
import type { Script } from '../../testing/index.js';
import { cycleSoFar, lastOf, type Answer, type CycleSoFar } from '../demo/script-steps.js';
import { addDays, daysBetween, morningOf } from './calendar.js';
import type { Letter, OldInvoice } from './ledger.js';

const REMINDERS_MAX = 3;
const DAYS_BETWEEN = 21;
/** As long as letters may still come. */
const LETTERS_WITHIN = 10;

interface Call {
  readonly tool: string;
  readonly input: { readonly [name: string]: string | number };
}

interface Morning {
  readonly today: string;
  readonly invoices: readonly OldInvoice[];
  readonly daysAhead: readonly string[];
  readonly letters: readonly Letter[];
}

export const collectionsScript: Script = (request) => {
  const soFar = cycleSoFar(request);
  const morning = morningIn(soFar);
  if (morning === undefined) return look();
  const todo = [...workOf(morning), ...afterAnswer(soFar, morning)].filter(
    (call) => !isTried(soFar, call),
  );
  if (todo.length > 0) return { calls: todo };
  const pause = pauseIn(morning);
  if (pause !== undefined && !isTried(soFar, pause)) return { calls: [pause] };
  return { text: farewell(soFar, morning) };
};

function look(): Answer {
  return {
    calls: [
      { tool: 'list_old_invoices', input: {} },
      { tool: 'read_letters', input: {} },
    ],
  };
}

/** What the ledger said at the beginning of this cycle. */
function morningIn(soFar: CycleSoFar): Morning | undefined {
  const list = lastOf(soFar, 'list_old_invoices')?.output as Omit<Morning, 'letters'> | undefined;
  const post = lastOf(soFar, 'read_letters')?.output as Pick<Morning, 'letters'> | undefined;
  return list === undefined || post === undefined ? undefined : { ...list, ...post };
}

function workOf({ today, invoices, letters }: Morning): readonly Call[] {
  const answered = invoices.flatMap((invoice) => {
    const letter = letters.findLast(({ invoiceId }) => invoiceId === invoice.invoiceId);
    return letter === undefined ? [] : answerTo(letter, invoice);
  });
  const silent = invoices.filter(
    ({ invoiceId }) => !letters.some((one) => one.invoiceId === invoiceId),
  );
  return [...answered, ...silent.flatMap((invoice) => reminderOf(invoice, today))];
}

function answerTo(
  letter: Letter,
  { invoiceId, amountCents, customer }: OldInvoice,
): readonly Call[] {
  if (letter.disputed) {
    const question = `${customer} disputes ${invoiceId}: ${letter.text} Until when may they pay?`;
    return [{ tool: 'ask_lead', input: { invoiceId, question } }];
  }
  const until = letter.promised;
  if (until === null) return [];
  return [agreement({ invoiceId, amountCents, until, because: `They wrote: ${letter.text}` })];
}

function reminderOf(invoice: OldInvoice, today: string): readonly Call[] {
  const { invoiceId, amountCents, ageDays, reminded } = invoice;
  const last = reminded.at(-1);
  if (last !== undefined && daysBetween(last, today) < DAYS_BETWEEN) return [];
  if (reminded.length >= REMINDERS_MAX) {
    const because = `${invoice.customer} has not answered three reminders of ${invoiceId}.`;
    return [{ tool: 'goal_block', input: { kind: 'authority', because } }];
  }
  const text = `Invoice ${invoiceId} is ${ageDays} days old and still unpaid. Please pay it, or tell us when you can.`;
  return [{ tool: 'send_reminder', input: { invoiceId, amountCents, text } }];
}

/** The lead has answered a dispute with a day. */
function afterAnswer({ calls }: CycleSoFar, { invoices }: Morning): readonly Call[] {
  return calls.flatMap(({ tool, input, output, failed }) => {
    const { invoiceId } = input as { readonly invoiceId?: string };
    const invoice = invoices.find((one) => one.invoiceId === invoiceId);
    const [until] = /\d{4}-\d\d-\d\d/.exec(JSON.stringify(output)) ?? [];
    if (tool !== 'ask_lead' || failed || invoice === undefined || until === undefined) return [];
    const because = 'The lead has settled the dispute.';
    return [
      agreement({ invoiceId: invoice.invoiceId, amountCents: invoice.amountCents, until, because }),
    ];
  });
}

function agreement(input: {
  readonly invoiceId: string;
  readonly amountCents: number;
  readonly until: string;
  readonly because: string;
}): Call {
  return { tool: 'record_agreement', input };
}

/** Until something can change by itself; none while somebody may still answer. */
function pauseIn({ today, invoices, daysAhead, letters }: Morning): Call | undefined {
  const last = invoices.flatMap(({ reminded }) => reminded.slice(-1));
  const isQuiet =
    letters.length === 0 &&
    last.length === invoices.length &&
    last.every((day) => daysBetween(day, today) >= LETTERS_WITHIN);
  if (!isQuiet) return undefined;
  const next = [...daysAhead, ...last.map((day) => addDays(day, DAYS_BETWEEN))]
    .filter((day) => day > today)
    .sort()[0];
  if (next === undefined || daysBetween(today, next) < 2) return undefined;
  const because = `Nothing is to be expected before ${next}.`;
  return { tool: 'goal_ask_pause', input: { until: morningOf(next), because } };
}

/** Tried in this cycle, whatever came of it. */
function isTried({ calls }: CycleSoFar, { tool, input }: Call): boolean {
  return calls.some((call) => {
    const other = call.input as Call['input'];
    return (
      call.tool === tool &&
      other['invoiceId'] === input['invoiceId'] &&
      other['because'] === input['because']
    );
  });
}

function farewell({ calls }: CycleSoFar, { invoices }: Morning): string {
  const sent = calls.filter(({ tool, failed }) => tool === 'send_reminder' && !failed).length;
  return sent === 0
    ? `${invoices.length} old invoices this morning; there was nothing to send.`
    : `${sent} of ${invoices.length} old invoices reminded.`;
}
