/**
 * The people of an agent under test: who approves, answers and talks on.
 * Invariant: nobody decides but what the test says; a question that it leaves alone stays open until it expires.
 */
import type { Json } from '../../core/json/json.js';
import {
  parseDecision,
  parseProvidedInput,
  parseUserMessage,
} from '../../core/messages/parse-message.js';
import type { DecisionKind } from '../../core/state/ask-kinds.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { GrantRequest } from '../../core/state/grant.js';
import type { Counted } from '../outside-work.js';
import type { AskedEvent } from '../simulate-goal.js';
import type { Message } from '../simulation/index.js';
import { refuseUnknown, unfit } from './check-test.js';

/** What one person says to a question. */
export interface TestDecision {
  readonly decision: DecisionKind;
  /** Default `approver`. */
  readonly by?: string;
  /** Default: the roles that the question asks for. */
  readonly roles?: readonly string[];
  readonly reason?: string;
  /** With 'modify': other arguments; with 'replace' of another tool. */
  readonly args?: { readonly [name: string]: Json };
  readonly tool?: string;
  /** With 'approve' of a budget, in its unit: how much more. */
  readonly amount?: number;
  readonly value?: Json;
  /** What the approval allows beyond this call. */
  readonly grant?: GrantRequest;
}

/**
 * 'approve' is said by as many people as the question asks for, with its roles; any other word by one of them. undefined:
 * nobody says anything, and the question expires in virtual time.
 */
export type TestApproval =
  | 'approve'
  | 'reject'
  | 'happened'
  | 'not_happened'
  | 'stop'
  | TestDecision
  | readonly TestDecision[]
  | undefined;

/** The question as people see it; `runId` is of the run that asks. */
export type TestAsk = AskedEvent & { readonly runId: string };

export interface People {
  readonly approvals?: (ask: TestAsk) => TestApproval | Promise<TestApproval>;
  /** Of a question of the model; undefined: nobody answers. */
  readonly answers?: (ask: TestAsk) => Json | undefined | Promise<Json | undefined>;
  /** What the user says each time that the agent waits for the next message; then the conversation is closed. */
  readonly messages?: readonly string[];
}

export interface PeoplePlace {
  readonly now: () => number;
  readonly send: (message: Message, runId: string) => void;
  readonly counted: Counted;
  readonly fail: (error: unknown) => void;
}

const DEFAULT_PERSON = 'approver';

/** Listens to events, and speaks. */
export function peopleOf(people: People, place: PeoplePlace): (event: RunEvent) => void {
  let said = 0;
  const talk = (runId: string): void => {
    const text = people.messages?.[said];
    said += 1;
    if (text === undefined) return place.send({ type: 'close' }, runId);
    const parsed = parseUserMessage({ text });
    if (!parsed.ok) throw invalid('messages', parsed.reason);
    place.send({ type: 'user_message', ...parsed.value }, runId);
  };
  return (event) => {
    if (event.type !== 'approval_requested' && event.type !== 'input_request') return;
    const { runId } = event.stamp;
    const ask: TestAsk = { ...event, runId };
    if (ask.kind === 'user_message') return soon(place, async () => talk(runId));
    const isQuestion = ask.kind === 'input';
    soon(place, () => (isQuestion ? answer(people, ask, place) : decide(people, ask, place)));
  };
}

/** What goes wrong there is an error of the test. */
function soon({ counted, fail }: PeoplePlace, work: () => Promise<void>): void {
  counted(work(), 'an answer of the test').catch(fail);
}

async function decide(people: People, ask: TestAsk, place: PeoplePlace): Promise<void> {
  const approval = await people.approvals?.(ask);
  for (const decision of decisionsOf(approval, ask)) {
    place.send({ type: 'decision', decision: parsedDecision(decision, ask, place) }, ask.runId);
  }
}

async function answer(people: People, ask: TestAsk, place: PeoplePlace): Promise<void> {
  const value = await people.answers?.(ask);
  if (value === undefined) return;
  const { askId, roles, runId } = ask;
  const parsed = parseProvidedInput({ askId, value, by: DEFAULT_PERSON, roles });
  if (!parsed.ok) throw invalid('answers', parsed.reason);
  place.send({ type: 'input_provided', ...parsed.value }, runId);
}

function decisionsOf(approval: TestApproval, { quorum }: TestAsk): readonly TestDecision[] {
  if (approval === undefined) return [];
  if (approval === 'approve') {
    return Array.from({ length: Math.max(1, quorum) }, (_, index) => ({
      decision: 'approve' as const,
      by: index === 0 ? DEFAULT_PERSON : `${DEFAULT_PERSON}-${index + 1}`,
    }));
  }
  if (typeof approval === 'string') return [{ decision: approval }];
  return Array.isArray(approval)
    ? (approval as readonly TestDecision[])
    : [approval as TestDecision];
}

const SAID: readonly (keyof TestDecision)[] = ['decision', 'by', 'roles', 'reason'];
/** What only some decisions take: a run drops the field of another one. */
const GOES_WITH: { readonly [field: string]: readonly TestDecision['decision'][] } = {
  args: ['modify', 'replace'],
  tool: ['replace'],
  amount: ['approve'],
  grant: ['approve'],
  value: ['happened'],
};

/** Errors: InvalidFixture for a field that there is not, and for one that the decision does not take. */
function checkDecision(given: TestDecision | null | undefined): void {
  if (typeof given !== 'object' || given === null) return;
  refuseUnknown('A decision', given, [...SAID, ...Object.keys(GOES_WITH)]);
  for (const [field, kinds] of Object.entries(GOES_WITH)) {
    if (
      (given as unknown as { readonly [field: string]: unknown })[field] === undefined ||
      kinds.includes(given.decision)
    )
      continue;
    const one = `The decision ${JSON.stringify(given.decision)} takes no ${field}.`;
    throw unfit(one, `\`${field}\` goes with ${kinds.join(' or ')}.`);
  }
}

function parsedDecision(decision: TestDecision, ask: TestAsk, { now }: PeoplePlace) {
  const { askId, argsHash, roles } = ask;
  // What a test gives may be anything.
  checkDecision(decision);
  const said = Object.entries(decision ?? {}).filter(([, value]) => value !== undefined);
  const parsed = parseDecision({
    v: 1,
    askId,
    argsHash,
    by: DEFAULT_PERSON,
    roles,
    decidedAt: now(),
    ...Object.fromEntries(said),
  });
  if (parsed.ok) return parsed.value;
  throw invalid('approvals', parsed.reason);
}

function invalid(field: string, why: string): HoldfastError {
  return new HoldfastError('InvalidFixture', `The test cannot use its ${field}: ${why}.`, {
    hint: `Correct what ${field} gives.`,
  });
}
