/**
 * Parses what people say to a goal, by signal or Update: shape and sizes, as parse-message.ts does for runs.
 * Invariants: total; own properties only; what is parsed again is the same, so that the words that were signed are the
 * words that are read. What needs the plan, the budget or a calendar is judged later.
 */
import { depthOf, SHAPE_DEPTH_MAX } from '../json/json-depth.js';
import { fitsBytes, ownValue } from '../json/json.js';
import { isRecord, isText, isWellFormed, type Fields, type Parsed } from '../json/shape.js';
import type { Pace } from '../state/goal/definition.js';
import { MEMORY_LIMITS, type StepStatus } from '../state/goal/memory.js';
import {
  STEER_CHARS_MAX,
  type GoalMessage,
  type MessageBase,
  type MessageBody,
} from '../state/goal/message.js';
import type { ProposedStep } from '../state/goal/proposal.js';
import { GOAL_BUDGET_FIELDS } from '../state/goal/terms.js';

/** A whole message, as JSON; the largest is a plan. */
export const GOAL_MESSAGE_BYTES_MAX = 64 * 1024;
const ID_CHARS_MAX = 200;
const KEY_ID_CHARS_MAX = 64;
const PROOF_CHARS_MAX = 2_000;
const ROLES_MAX = 50;
const BECAUSE_CHARS_MAX = 2_000;
const YEAR_MS = 366 * 86_400_000;
const CRON_CHARS_MAX = 200;
const TIMEZONE_CHARS_MAX = 64;
const STATUSES: readonly StepStatus[] = ['open', 'doing', 'done', 'dropped'];

export function parseGoalMessage(raw: unknown): Parsed<GoalMessage> {
  if (!isRecord(raw)) return fault('a message must be an object with a type');
  const undecodable = ownValue(raw, '$undecodable');
  if (typeof undecodable === 'string') return fault(`undecodable: ${undecodable}`);
  if (depthOf(raw) > SHAPE_DEPTH_MAX) return fault('a message nests too deeply');
  if (!fitsBytes(raw, GOAL_MESSAGE_BYTES_MAX)) {
    return fault(`a message must take at most ${GOAL_MESSAGE_BYTES_MAX} bytes as JSON`);
  }
  if (!isWellFormed(raw)) return fault('a text of the message has half of a surrogate pair');
  const base = parseBase(raw);
  if (!base.ok) return base;
  const body = parseBody(raw);
  return body.ok ? { ok: true, value: { ...base.value, ...body.value } } : body;
}

function parseBase(raw: Fields): Parsed<MessageBase> {
  const id = ownValue(raw, 'id');
  const by = ownValue(raw, 'by');
  const at = ownValue(raw, 'at');
  const roles = ownValue(raw, 'roles') ?? [];
  const kid = ownValue(raw, 'kid');
  const proof = ownValue(raw, 'proof');
  if (!isText(id, ID_CHARS_MAX)) return fault('id must be a short text');
  if (!isText(by, ID_CHARS_MAX)) return fault('by must name the person who says it');
  if (!isWhole(at, 0)) return fault('at must be integer ms since epoch');
  if (!isTexts(roles, ROLES_MAX)) return fault(`roles must be at most ${ROLES_MAX} texts`);
  if (kid !== undefined && !isText(kid, KEY_ID_CHARS_MAX)) return fault('kid must name a key');
  if (proof !== undefined && !isText(proof, PROOF_CHARS_MAX)) return fault('proof must be a text');
  const signed = { ...(kid !== undefined && { kid }), ...(proof !== undefined && { proof }) };
  return { ok: true, value: { v: 1, id, by, roles, at, ...signed } };
}

/** What a type does not carry is dropped. */
function parseBody(raw: Fields): Parsed<MessageBody> {
  const type = ownValue(raw, 'type');
  switch (type) {
    case 'pause':
    case 'resume':
    case 'wake':
    case 'stop':
    case 'cancel':
      return { ok: true, value: { type } };
    case 'steer':
      return parseSteer(raw);
    case 'review':
      return parseReview(raw);
    case 'setBudget':
      return parseBudget(ownValue(raw, 'budget'));
    case 'setPlan':
      return parsePlan(raw);
    case 'setPace': {
      const pace = parsePace(ownValue(raw, 'pace'));
      return pace.ok ? { ok: true, value: { type, pace: pace.value } } : pace;
    }
    case 'handoffGoal': {
      const goalId = ownValue(raw, 'goalId');
      if (!isText(goalId, ID_CHARS_MAX)) return fault('goalId must be the id of a goal');
      return { ok: true, value: { type, goalId } };
    }
    default:
      return fault('type must be one of those that a goal knows');
  }
}

function parseSteer(raw: Fields): Parsed<MessageBody> {
  const text = ownValue(raw, 'text');
  const wake = ownValue(raw, 'wake');
  if (!isText(text, STEER_CHARS_MAX)) {
    return fault(`text must be a non-blank text of at most ${STEER_CHARS_MAX} characters`);
  }
  return { ok: true, value: { type: 'steer', text, ...(wake === true && { wake }) } };
}

function parseReview(raw: Fields): Parsed<MessageBody> {
  const valid = ownValue(raw, 'objectiveValid');
  const because = ownValue(raw, 'because');
  if (valid !== undefined && typeof valid !== 'boolean') {
    return fault('objectiveValid must be true or false');
  }
  if (because !== undefined && !isText(because, BECAUSE_CHARS_MAX)) {
    return fault(`because must be a text of at most ${BECAUSE_CHARS_MAX} characters`);
  }
  const said = {
    ...(valid !== undefined && { objectiveValid: valid }),
    ...(because !== undefined && { because }),
  };
  return { ok: true, value: { type: 'review', ...said } };
}

function parseBudget(raw: unknown): Parsed<MessageBody> {
  const given = isRecord(raw) ? Object.entries(raw) : [];
  const known: readonly string[] = GOAL_BUDGET_FIELDS;
  if (given.length === 0 || !given.every(([name]) => known.includes(name))) {
    return fault(`budget must name one or more of ${known.join(', ')}`);
  }
  const wrong = given.find(([, value]) => !isWhole(value, 1));
  if (wrong !== undefined) return fault(`budget.${wrong[0]} must be a whole number from 1`);
  return { ok: true, value: { type: 'setBudget', budget: Object.fromEntries(given) } };
}

function parsePlan(raw: Fields): Parsed<MessageBody> {
  const given = ownValue(raw, 'steps');
  const revision = ownValue(raw, 'revision');
  if (revision !== undefined && !isWhole(revision, 0)) {
    return fault('revision must be the number of a plan');
  }
  if (!Array.isArray(given) || given.length > MEMORY_LIMITS.steps) {
    return fault(`steps must be a list of at most ${MEMORY_LIMITS.steps}`);
  }
  const steps: ProposedStep[] = [];
  for (const [index, one] of (given as readonly unknown[]).entries()) {
    const step = parseStep(one);
    if (!step.ok) return fault(`steps.${index}: ${step.reason}`);
    if (steps.some(({ id }) => id === step.value.id))
      return fault(`steps.${index}: its id is taken`);
    steps.push(step.value);
  }
  const seen = revision !== undefined && { revision };
  return { ok: true, value: { type: 'setPlan', steps, ...seen } };
}

function parseStep(raw: unknown): Parsed<ProposedStep> {
  const { stepIdChars, titleChars, noteChars, evidenceIds } = MEMORY_LIMITS;
  if (!isRecord(raw)) return fault('a step must be an object with id and title');
  const id = ownValue(raw, 'id');
  const title = ownValue(raw, 'title');
  const status = ownValue(raw, 'status') ?? 'open';
  const note = ownValue(raw, 'note');
  const evidence = ownValue(raw, 'evidence');
  if (!isText(id, stepIdChars)) return fault(`id must be a text of at most ${stepIdChars}`);
  if (!isText(title, titleChars)) return fault(`title must be a text of at most ${titleChars}`);
  const known = STATUSES.find((one) => one === status);
  if (known === undefined) return fault(`status must be one of ${STATUSES.join(', ')}`);
  if (note !== undefined && !isText(note, noteChars)) {
    return fault(`note must be a text of at most ${noteChars}`);
  }
  if (evidence !== undefined && !isTexts(evidence, evidenceIds)) {
    return fault(`evidence must be at most ${evidenceIds} ids`);
  }
  const more = { ...(note !== undefined && { note }), ...(evidence !== undefined && { evidence }) };
  return { ok: true, value: { id, title, status: known, ...more } };
}

const PACE = "pace must be 'continuous', 'when_woken', {everyMs} or {cron, timezone}";

/** Whether a cron line means something is for who knows calendars. */
function parsePace(raw: unknown): Parsed<Pace> {
  if (raw === 'continuous' || raw === 'when_woken') return { ok: true, value: raw };
  if (!isRecord(raw)) return fault(PACE);
  const everyMs = ownValue(raw, 'everyMs');
  if (isWhole(everyMs, 1) && everyMs <= YEAR_MS) return { ok: true, value: { everyMs } };
  const cron = ownValue(raw, 'cron');
  const timezone = ownValue(raw, 'timezone');
  if (!isText(cron, CRON_CHARS_MAX) || !isText(timezone, TIMEZONE_CHARS_MAX)) return fault(PACE);
  return { ok: true, value: { cron, timezone } };
}

function isWhole(value: unknown, min: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min;
}

function isTexts(value: unknown, max: number): value is readonly string[] {
  return (
    Array.isArray(value) && value.length <= max && value.every((one) => isText(one, ID_CHARS_MAX))
  );
}

function fault(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
