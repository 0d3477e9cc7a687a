/**
 * A recorded run in the form in which a workflow can play it again.
 *
 * Takes: a run of any recording. Gives: what the customer says and what the model replies, in turns.
 * Invariants: (1) each of the customer's texts is followed by replies of which exactly the last has no
 * calls, because only then does a run wait for its user; (2) every served call has its recorded answer;
 * (3) call ids are unique in the run and as providers allow them; (4) no text is blank; (5) half of a
 * character, which no request can carry, is what a request makes of it.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { Json } from '../../core/json/json.js';
import { wellFormed } from '../../store/bounds.js';
import { isOutage } from './outage.js';
import { consentsBefore } from './consent.js';
import { splitExchanges, type Exchange } from './recording.js';
import {
  type AssistantTurn,
  type RecordedRun,
  type RecordedUsage,
  type ToolTurn,
} from './recorded-run.js';
import { isWrite, type Domain } from './domains/domain.js';

export interface PlayedCall {
  readonly id: string;
  readonly name: string;
  /** The same, but for an invented name that no provider takes. */
  readonly recordedName: string;
  readonly args: Json;
  /** What the tool answered. */
  readonly content: string;
  readonly error: boolean;
  /** The service was not there: the answer is played, and nothing happens. */
  readonly outage: boolean;
  readonly writes: boolean;
  /** The customer's last words before it hold a yes. */
  readonly consented: boolean;
}

export interface PlayedReply {
  readonly text?: string;
  readonly calls: readonly PlayedCall[];
  readonly usage?: RecordedUsage;
}

export interface PlayedExchange {
  readonly userText: string;
  readonly replies: readonly PlayedReply[];
}

/** A recorded run that cannot be played, and why. */
export interface UnplayableRun {
  readonly id: string;
  readonly unplayable: string;
}

export interface PlayedRun {
  readonly id: string;
  readonly index: number;
  readonly exchanges: readonly PlayedExchange[];
  readonly replies: readonly PlayedReply[];
  readonly calls: ReadonlyMap<string, PlayedCall>;
}

/** Longest text that a run takes as a message. */
const USER_CHARS_MAX = 16_384;
const ID_CHARS_MAX = 100;
const FOREIGN_SHOWN_MAX = 5;
/** Where the recording has no words, a conversation still needs some. */
const FILLER = '(nothing was recorded here)';

export function isPlayable(run: PlayedRun | UnplayableRun): run is PlayedRun {
  return !('unplayable' in run);
}

/** The run as it is played. */
export function playedRun(run: RecordedRun, domain: Domain): PlayedRun | UnplayableRun {
  const player = { run, domain, answers: answersOf(run), usedIds: new Set<string>() };
  const exchanges = splitExchanges(run)
    .filter((exchange) => exchange.turns.length > 0)
    .map((exchange) => playedExchange(player, exchange));
  const defect = defectOf(exchanges);
  if (defect !== undefined) return { id: run.id, unplayable: defect };
  const replies = exchanges.flatMap((exchange) => exchange.replies);
  const calls = new Map(replies.flatMap((reply) => reply.calls).map((call) => [call.id, call]));
  return { id: run.id, index: run.index, exchanges, replies, calls };
}

function defectOf(exchanges: readonly PlayedExchange[]): string | undefined {
  if (exchanges.length === 0) return 'nobody answered the customer';
  const chars = Math.max(...exchanges.map(({ userText }) => userText.length));
  return chars <= USER_CHARS_MAX
    ? undefined
    : `a text of the customer has ${chars} characters, and a run takes ${USER_CHARS_MAX} in one message`;
}

interface Player {
  readonly run: RecordedRun;
  readonly domain: Domain;
  readonly answers: ReadonlyMap<string, ToolTurn>;
  readonly usedIds: Set<string>;
}

function answersOf(run: RecordedRun): ReadonlyMap<string, ToolTurn> {
  const answers = run.turns.filter((turn): turn is ToolTurn => turn.role === 'tool');
  return new Map(answers.map((turn) => [turn.id, turn]));
}

function playedExchange(player: Player, { userTexts, turns }: Exchange): PlayedExchange {
  const words = userTexts.filter((text) => text.trim() !== '').join('\n\n');
  const userText = wellFormed(words) || FILLER;
  const replies: PlayedReply[] = [];
  let unsaid: string | undefined;
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue;
    const reply = playedReply(player, turn, unsaid);
    unsaid = reply.calls.length === 0 ? reply.text : undefined;
    // Words without a call end the run's turn, so they wait for what the model did next.
    if (reply.calls.length > 0) replies.push(reply);
  }
  const last = turns.findLast((turn) => turn.role === 'assistant');
  const usage = unsaid === undefined || last?.usage === undefined ? {} : { usage: last.usage };
  return { userText, replies: [...replies, { text: unsaid ?? FILLER, calls: [], ...usage }] };
}

function playedReply(player: Player, turn: AssistantTurn, before: string | undefined): PlayedReply {
  const own = turn.text === null || turn.text.trim() === '' ? undefined : turn.text;
  const text = wellFormed([before, own].filter((part) => part !== undefined).join('\n\n'));
  return {
    ...(text !== '' && { text }),
    calls: turn.calls.flatMap((call) => playedCall(player, turn, call)),
    ...(turn.usage !== undefined && { usage: turn.usage }),
  };
}

function playedCall(
  { run, domain, answers, usedIds }: Player,
  turn: AssistantTurn,
  call: AssistantTurn['calls'][number],
): PlayedCall[] {
  const answer = answers.get(call.id);
  // Nobody knows what it would have answered: it is not played.
  if (answer === undefined) return [];
  const base = call.id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, ID_CHARS_MAX);
  const id = usedIds.has(base) ? `${base}_${usedIds.size}` : base;
  usedIds.add(id);
  return [
    {
      id,
      name: playableName(call.name),
      recordedName: call.name,
      // It was read from JSON.
      args: call.args as Json,
      content: wellFormed(answer.content),
      error: answer.error,
      outage: isOutage(answer.content),
      writes: isWrite(domain, call.name),
      consented: consentsBefore(run.turns, run.turns.indexOf(turn)),
    },
  ];
}

function playableName(name: string): string {
  if (/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) return name;
  return `invented_${name.replace(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, 64);
}

/** A tool that nobody has, under a name that a provider takes. */
export interface InventedTool {
  readonly name: string;
  readonly recordedName: string;
}

/**
 * Tools that the recorded models invented: unknown, and refused each time. An unknown tool that gave a
 * result is one of another domain, and the recording cannot be played here.
 */
export function inventedTools(runs: readonly PlayedRun[], domain: Domain): readonly InventedTool[] {
  const unknown = runs
    .flatMap((run) => [...run.calls.values()])
    .filter((call) => !domain.tools.has(call.name));
  const foreign = unknown
    .filter((call) => !call.error && !call.outage)
    .map((call) => call.recordedName);
  if (foreign.length > 0) {
    const shown = [...new Set(foreign)].slice(0, FOREIGN_SHOWN_MAX).join(', ');
    throw new HoldfastError(
      'InvalidTask',
      `The recording calls tools that the domain ${domain.name} does not have: ${shown}.`,
      { hint: 'Name the domain of the recording with --domain.' },
    );
  }
  const names = new Map(unknown.map((call) => [call.name, call.recordedName]));
  return [...names].map(([name, recordedName]) => ({ name, recordedName }));
}
