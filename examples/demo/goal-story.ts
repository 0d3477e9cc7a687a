/**
 * A goal told as a story: what its agent says and does, what the goal believes, what it costs. `says` and `claims` are
 * words of a model; `believes` is what a check measured.
 * Invariant: everything that came from outside is made inert.
 */
import type { RunEvent } from '../../index.js';
import { inert, inertInline, usdText, type Paint } from '../../cli/render/index.js';

export interface Storyteller {
  /** Lines of an event; none for what only the record needs. */
  tell(event: RunEvent): readonly string[];
}

export interface StoryOptions {
  readonly paint: Paint;
  /** Of the times of sleeps and, with `days`, of a line for each new day. */
  readonly timeZone: string;
  readonly days?: boolean;
}

const TEXT_CHARS_MAX = 140;
const RESULT_CHARS_MAX = 90;
const LABEL_WIDTH = 10;
const SILENT_TOOLS = /^goal_/;

export function storyteller(options: StoryOptions): Storyteller {
  let day = '';
  return {
    tell(event) {
      const lines = linesOf(event, options);
      if (options.days !== true || lines.length === 0) return lines;
      const today = dayText(event.stamp.at, options.timeZone);
      if (today === day) return lines;
      day = today;
      const blank = lines[0] === '' ? [] : [''];
      return ['', options.paint.bold(today), ...blank, ...lines];
    },
  };
}

export function dayText(at: number, timeZone: string): string {
  const shown = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;
  return new Intl.DateTimeFormat('en-GB', { ...shown, timeZone }).format(at);
}

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

function linesOf(event: RunEvent, options: StoryOptions): readonly string[] {
  const { paint } = options;
  switch (event.type) {
    case 'goal_started':
      return [
        line('goal', `within ${usdText(event.maxCostMicroUsd)}: “${words(event.objective)}”`),
      ];
    case 'cycle_started':
      return ['', paint.bold(`Cycle ${event.n}, at most ${usdText(event.budget.maxCostMicroUsd)}`)];
    case 'model_response':
      return modelLines(event, paint);
    case 'tool_finished':
      return toolLines(event, paint);
    case 'approval_requested':
    case 'input_request':
      return [line('asks', paint.yellow(askText(event)))];
    case 'approval_resolved':
      // What the policy allows nobody was asked about.
      return event.by.some((by) => by.startsWith('policy:'))
        ? []
        : [line('person', `${people(event.by)}: ${event.outcome}${reasonOf(event)}`)];
    case 'input_provided':
      return [line('person', `${people(event.by)}: ${event.outcome}`)];
    default:
      return goalLines(event, options);
  }
}

function goalLines(event: RunEvent, { paint, timeZone }: StoryOptions): readonly string[] {
  switch (event.type) {
    case 'check_finished':
      return [line('believes', checkText(event, paint))];
    case 'cycle_ended':
      return [line('cost', paint.dim(endText(event)))];
    case 'goal_steered':
      return [line('person', `${inert(event.by)}: ${event.control ?? `“${words(event.text)}”`}`)];
    case 'goal_sleeping': {
      const until = event.until === undefined ? 'woken' : whenText(event.until, timeZone);
      return [
        line('sleeps', paint.dim(`until ${until} (${inert(event.because, TEXT_CHARS_MAX)})`)),
      ];
    }
    case 'warning':
      return [line('warning', paint.yellow(inert(event.message, TEXT_CHARS_MAX)))];
    default:
      return [];
  }
}

function line(label: string, text: string): string {
  return `  ${label.padEnd(LABEL_WIDTH)}${text}`;
}

/** A claim is told apart from what an agent does: it ends nothing. */
function modelLines(event: Of<'model_response'>, paint: Paint): readonly string[] {
  const claims = event.calls.flatMap(({ tool, args }) => claimOf(tool, args));
  return [
    ...(event.text === undefined ? [] : [line('says', `“${words(event.text)}”`)]),
    ...claims.map((claim) => line('claims', paint.yellow(claim))),
  ];
}

function claimOf(tool: string, args: unknown): readonly string[] {
  const { because = '' } = args as { readonly because?: unknown };
  const why = inert(String(because), TEXT_CHARS_MAX);
  switch (tool) {
    case 'goal_propose_done':
      return [`done: ${why}`];
    case 'goal_block':
      return [`blocked: ${why}`];
    case 'goal_ask_pause':
      return [`pause: ${why}`];
    default:
      return [];
  }
}

function toolLines(event: Of<'tool_finished'>, paint: Paint): readonly string[] {
  const { tool, status, content } = event;
  if (SILENT_TOOLS.test(tool) && status === 'ok') return [];
  const text = `${inert(tool)} ${inert(words(content), RESULT_CHARS_MAX)}`;
  return [line(status === 'ok' ? 'does' : 'fails', status === 'ok' ? text : paint.red(text))];
}

function askText({
  roles,
  question,
  tool,
  args,
}: Of<'approval_requested' | 'input_request'>): string {
  const about =
    tool === undefined || args === undefined
      ? ''
      : ` ${inert(tool)} ${inertInline(args, TEXT_CHARS_MAX)}`;
  const asked = question === undefined ? '' : ` ${inert(question, TEXT_CHARS_MAX)}`;
  return `${roles.map((role) => inert(role)).join(' or ') || 'anybody'}:${about}${asked}`;
}

function checkText(
  { name, known, value, best, because }: Of<'check_finished'>,
  paint: Paint,
): string {
  if (!known) return paint.yellow(`${inert(name)}: unknown, ${inert(because ?? '')}`);
  const measured =
    value === undefined ? 'ran' : `${value}${best === undefined ? '' : ` (best ${best})`}`;
  return value === 0 ? paint.green(`${inert(name)}: ${measured}`) : `${inert(name)}: ${measured}`;
}

function endText({ stopReason, costMicroUsd, progress }: Of<'cycle_ended'>): string {
  const end = stopReason === 'completed' ? '' : `, ended ${stopReason}`;
  return `${usdText(costMicroUsd)}${end}; ${progressText(progress)}`;
}

function progressText(progress: Of<'cycle_ended'>['progress']): string {
  if (progress.length === 0) return 'no progress';
  const effects = progress.filter(({ kind }) => kind === 'effect').length;
  const proven = progress.flatMap(({ kind, id }) =>
    kind === 'effect' ? [] : `${kind} ${inert(id)}`,
  );
  const done = effects === 0 ? [] : [`${effects} new effect${effects === 1 ? '' : 's'}`];
  return `progress: ${[...done, ...proven].join(', ')}`;
}

function whenText(at: number, timeZone: string): string {
  const shown = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  } as const;
  return new Intl.DateTimeFormat('en-GB', { ...shown, timeZone }).format(at);
}

function people(by: readonly string[]): string {
  return by.length === 0 ? 'nobody' : by.map((one) => inert(one)).join(', ');
}

function reasonOf({ reason }: Of<'approval_resolved'>): string {
  return reason === undefined ? '' : ` (${inert(reason, TEXT_CHARS_MAX)})`;
}

function words(text: Of<'goal_started'>['objective']): string {
  return inert('text' in text ? text.text : text.preview, TEXT_CHARS_MAX);
}
