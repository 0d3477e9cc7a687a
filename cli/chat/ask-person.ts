/**
 * Questions of a run, asked where the person types.
 * Invariants: one question at a time; only a clear answer, typed after the question was shown, is one; a
 * question that is closed meanwhile is taken back; the end of the input answers nothing.
 */
import type {
  CanUseTool,
  OnQuestion,
  PermissionResult,
  QuestionReply,
} from '../../client/index.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { Json } from '../../core/json/json.js';
import { REASON_CHARS_MAX } from '../../core/messages/reason-limit.js';
import type { Elicitation } from '../../core/state/elicitation.js';
import { HoldfastError } from '../../core/state/errors.js';
import { parseJsonText } from '../../pure/json-text.js';
import type { Output } from '../terminal/output.js';
import { allowedText, amountFor, amountIn, askedAmount } from '../desk/more-budget.js';
import { approvalCard, inert } from '../render/index.js';
import { fillForm, type FormTerminal } from './elicit-form.js';
import type { LineSource } from './line-source.js';

export interface Asking {
  readonly lines: LineSource;
  readonly output: Output;
}

export interface Callbacks {
  readonly canUseTool: CanUseTool;
  readonly onQuestion: OnQuestion;
}

/** With `why`: the sentence for whoever typed it. */
type Unread = 'unclear' | 'too_long' | { readonly why: string };
type Reading<T> = (line: string) => T | null | Unread;

export function askPersonHere(asking: Asking): Callbacks {
  let turn: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const answer = turn.then(work);
    turn = answer.catch(() => undefined);
    return answer;
  }

  /** null: nobody answered. */
  function ask<T>(question: Question<T>): Promise<T | null> {
    return inTurn(() => put(asking, question));
  }

  return {
    canUseTool: (_tool, _input, { ask: view, runId, signal }) =>
      ask({ view, runId, signal, choices: APPROVAL, read: approvalOf }),
    onQuestion: (view, { runId, signal }) => {
      const { elicitation } = view;
      if (elicitation === undefined) return ask({ view, runId, signal, ...kindOf(view) });
      return inTurn(() => putForm(asking, { view, elicitation, runId, signal }));
    },
  };
}

interface Question<T> {
  readonly view: AskView;
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly choices: string;
  readonly read: Reading<T>;
  /** Said once more of an answer, so that its meaning is seen. */
  readonly echo?: (answer: T) => string | undefined;
}

async function put<T>(asking: Asking, question: Question<T>): Promise<T | null> {
  const { view, runId, signal, choices, read, echo } = question;
  const { lines, output } = asking;
  if (signal.aborted) return null;
  const card = { runId, now: Date.now(), paint: output.paint };
  output.line(approvalCard(view, { ...card, withoutCommands: true }));
  for (;;) {
    const line = await lines.ask(`${choices} `, signal);
    if (line === undefined) return null;
    const answer = read(line.trim());
    const problem = problemOf(answer);
    if (problem !== undefined) {
      output.line(problem);
      continue;
    }
    const said = answer === null ? undefined : echo?.(answer as T);
    if (said !== undefined) output.line(said);
    return answer as T | null;
  }
}

interface FormQuestion {
  readonly view: AskView;
  readonly elicitation: Elicitation;
  readonly runId: string;
  readonly signal: AbortSignal;
}

/** null: nobody answered. */
async function putForm(
  { lines, output }: Asking,
  { view, elicitation, runId, signal }: FormQuestion,
): Promise<QuestionReply | null> {
  if (signal.aborted) return null;
  const card = { runId, now: Date.now(), paint: output.paint };
  output.line(approvalCard(view, { ...card, withoutCommands: true }));
  const value = await fillForm(elicitation, formTerminal({ lines, output }, signal));
  return value === null ? null : { kind: 'text', value };
}

export function formTerminal({ lines, output }: Asking, signal: AbortSignal): FormTerminal {
  return {
    ask: async (prompt) => (await lines.ask(`${prompt} `, signal))?.trim(),
    line: output.line,
  };
}

const REASON_TOO_LONG = `A reason has at most ${REASON_CHARS_MAX} characters.`;
const APPROVAL = '[y]es, [n]o and why, [e]dit and the arguments as JSON, [l]ater:';

function approvalOf(line: string): PermissionResult | null | Unread {
  const [word, rest] = split(line);
  switch (word) {
    case 'y':
    case 'yes':
      return rest === '' ? { behavior: 'allow' } : 'unclear';
    case 'n':
    case 'no':
      return isTooLong(rest) ? 'too_long' : { behavior: 'deny', message: rest };
    case 'e':
    case 'edit': {
      const parsed = parseJsonText(rest);
      const { value } = parsed.ok ? parsed : { value: undefined };
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'unclear';
      return { behavior: 'allow', updatedInput: value as { readonly [name: string]: Json } };
    }
    case 'l':
    case 'later':
      return null;
    default:
      return 'unclear';
  }
}

function problemOf(answer: unknown): string | undefined {
  if (answer === 'unclear') return 'Please answer as shown.';
  if (answer === 'too_long') return REASON_TOO_LONG;
  const isRefused = typeof answer === 'object' && answer !== null && 'why' in answer;
  return isRefused ? String(answer.why) : undefined;
}

function kindOf({
  kind,
  args,
}: AskView): Pick<Question<QuestionReply>, 'choices' | 'read' | 'echo'> {
  switch (kind) {
    case 'budget':
      return {
        choices: BUDGET,
        read: (line) => budgetOf(line, args),
        echo: (reply) => allowedBy(reply, args),
      };
    case 'outcome':
      return { choices: 'Did it happen? [y]es, [n]o, [s]top, [l]ater:', read: outcomeOf };
    default:
      return { choices: 'Your answer:', read: textOf };
  }
}

const BUDGET = '[y]es (or yes and how much, as 6s or $0.50), [n]o, [l]ater:';

function budgetOf(line: string, args: Json | undefined): QuestionReply | null | Unread {
  const [word, rest] = split(line);
  if (word === 'n' || word === 'no') {
    return isTooLong(rest) ? 'too_long' : { kind: 'reject', ...(rest && { reason: rest }) };
  }
  if (word === 'y' || word === 'yes') return rest === '' ? { kind: 'approve' } : more(rest, args);
  return rest === '' && (word === 'l' || word === 'later') ? null : 'unclear';
}

function allowedBy(reply: QuestionReply, args: Json | undefined): string | undefined {
  if (reply.kind !== 'approve') return undefined;
  const amount = reply.amount ?? askedAmount(args);
  const allowed = amount === undefined ? undefined : allowedText(args, amount);
  return allowed === undefined ? undefined : `You allow ${inert(allowed)}.`;
}

function more(text: string, args: Json | undefined): QuestionReply | Unread {
  try {
    return { kind: 'approve', amount: amountFor(amountIn(text), args) };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { why: [error.message, error.hint].join(' ') };
  }
}

/** The run would cut it. */
function isTooLong(reason: string): boolean {
  return reason.length > REASON_CHARS_MAX;
}

function outcomeOf(line: string): QuestionReply | null | 'unclear' {
  const answers: { readonly [word: string]: QuestionReply | null } = {
    y: { kind: 'happened' },
    yes: { kind: 'happened' },
    n: { kind: 'not_happened' },
    no: { kind: 'not_happened' },
    s: { kind: 'stop' },
    stop: { kind: 'stop' },
    l: null,
    later: null,
  };
  const word = line.toLowerCase();
  return Object.hasOwn(answers, word) ? (answers[word] ?? null) : 'unclear';
}

function textOf(line: string): QuestionReply | 'unclear' {
  return line === '' ? 'unclear' : { kind: 'text', value: line };
}

function split(line: string): readonly [word: string, rest: string] {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  return [word.toLowerCase(), rest];
}
