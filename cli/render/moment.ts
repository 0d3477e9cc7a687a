/** A moment of a recorded run, for a terminal. */
import type { MomentView } from '../../recording/moment-view.js';
import type { ToldMoment, ToldRequest } from '../../replay/told-moment.js';
import { dateTimeText, inert, inertLines, plural, sourceLines, usdText } from './index.js';
import type { Paint } from './paint.js';

const WORDS_CHARS_MAX = 600;
const MESSAGE_CHARS_MAX = 1_000;
/** Of the request, the newest: all of them are in --json. */
const MESSAGES_SHOWN = 6;
const INDENT = '  ';

export function momentLines(moment: ToldMoment, paint: Paint): readonly string[] {
  const { step, steps, segment, at, view, calls, next } = moment;
  return [
    paint.bold(`Step ${step} of ${steps}`) + paint.dim(`  ${dateTimeText(at)}, segment ${segment}`),
    ...decisionLines(moment),
    '',
    `${paint.bold('Status')}  ${view.status}${'phase' in view ? `, ${view.phase}` : ''}`,
    ...stopLines(view, paint),
    ...moneyLines(view),
    ...view.asks.map((ask) => `${paint.bold('Question')}  ${inert(ask.askId)} ${ask.kind}`),
    ...view.inFlight.map(({ id, kind }) => `${paint.bold('In flight')}  ${kind} ${inert(id)}`),
    ...calls.map(({ tool, stage, args }) => {
      const given = inert(JSON.stringify(args), MESSAGE_CHARS_MAX);
      return `${paint.bold('Call')}  ${inert(tool)} (${stage}) ${given}`;
    }),
    ...askedLines(moment, paint),
    '',
    ...(next === undefined
      ? ['This is the last step.']
      : [paint.bold(`Next, step ${next.step}`), ...decisionLines(next)]),
  ];
}

type Decided = Pick<MomentView, 'inputs' | 'rules' | 'effects' | 'why'>;

function decisionLines({ inputs, rules, effects, why }: Decided): readonly string[] {
  const said = new Map(rules.map(({ rule, says }) => [rule, says]));
  return [
    ...inputs.map(
      ({ type, id }) => `${INDENT}received  ${type}${id === undefined ? '' : ` of ${inert(id)}`}`,
    ),
    ...[...said].map(([rule, says = '']) => `${INDENT}rule      ${rule}. ${says}`),
    ...why.map(({ words }) => `${INDENT}why       ${inert(words, WORDS_CHARS_MAX)}`),
    ...effects.map(
      ({ kind, summary }) => `${INDENT}began     ${kind}: ${inert(summary, WORDS_CHARS_MAX)}`,
    ),
  ];
}

function stopLines(view: MomentView['view'], paint: Paint): readonly string[] {
  if (!('stop' in view) || view.stop === undefined) return [];
  const { reason, detail } = view.stop;
  const why = detail === undefined ? '' : `: ${inert(detail, WORDS_CHARS_MAX)}`;
  return [`${paint.bold('Stop')}    ${reason}${why}`];
}

function moneyLines(view: MomentView['view']): readonly string[] {
  if (!('counters' in view) || !('reservedMicroUsd' in view)) return [];
  const { counters, reservedMicroUsd } = view;
  const { costMicroUsd, turnCount, modelCalls, toolCalls } = counters;
  return [
    `Money   spent ${usdText(costMicroUsd)}, reserved ${usdText(reservedMicroUsd)}`,
    `Counts  ${plural(turnCount, 'turn')}, ${plural(modelCalls, 'model call')}, ${plural(toolCalls, 'tool call')}`,
  ];
}

/** A reply stands behind its own request. */
function askedLines(moment: ToldMoment, paint: Paint): readonly string[] {
  const { request, answered, step } = moment;
  const newest = requestLines(request, step, paint);
  const reply = replyLines(moment, paint);
  if (answered === undefined) return [...newest, ...reply];
  return [...requestLines(answered, step, paint), ...reply, ...newest];
}

function requestLines(
  request: ToldMoment['request'],
  step: number,
  paint: Paint,
): readonly string[] {
  if (request === undefined) return [];
  const since = request.step === step ? '' : `, begun in step ${request.step}`;
  const title = paint.bold(
    `Request ${request.call} to ${inert(request.model ?? 'the model')}${since}`,
  );
  if (request.missing !== undefined) return ['', title, `${INDENT}${inert(request.missing)}`];
  const messages = request.messages ?? [];
  const earlier = messages.length - MESSAGES_SHOWN;
  const tools = (request.tools ?? []).map(({ name }) => name).join(', ');
  return [
    '',
    title,
    `${INDENT}tools     ${inert(tools === '' ? 'none' : tools, WORDS_CHARS_MAX)}`,
    ...block('system', request.system ?? ''),
    ...(earlier > 0 ? [paint.dim(`${INDENT}(${earlier} earlier messages are in --json)`)] : []),
    ...messages
      .slice(-MESSAGES_SHOWN)
      .flatMap(({ role, blocks }) => blocks.flatMap((one) => block(role, blockText(one)))),
  ];
}

function replyLines({ reply, step }: ToldMoment, paint: Paint): readonly string[] {
  if (reply === undefined) return [];
  const { call, stop, text, refusal, calls, missing, sources } = reply;
  const since = reply.step === step ? '' : `, received in step ${reply.step}`;
  const which = call === undefined ? '' : ` to request ${call}`;
  const said = [text, missing, refusal].filter((one) => one !== undefined);
  return [
    '',
    paint.bold(`Reply${which}${since}`) + paint.dim(`  ${stop}`),
    ...said.flatMap((one) => block('assistant', one)),
    ...sourceLines(sources).flatMap((line) => block('source', line)),
    ...calls.flatMap(({ tool, args }) =>
      block('assistant', `calls ${tool} ${JSON.stringify(args)}`),
    ),
  ];
}

type Shown = NonNullable<ToldRequest['messages']>[number]['blocks'][number];

function blockText(one: Shown): string {
  if (one.type === 'tool_use') return `calls ${one.tool} ${JSON.stringify(one.args)}`;
  if (one.type === 'tool_result') return `result${one.isError ? ' (error)' : ''}: ${one.text}`;
  if (one.type === 'file') return `[${one.mediaType}]`;
  return one.text;
}

function block(title: string, text: string): readonly string[] {
  return inertLines(text, MESSAGE_CHARS_MAX).map(
    (line, index) => `${INDENT}${(index === 0 ? title : '').padEnd(10)}${line}`,
  );
}
