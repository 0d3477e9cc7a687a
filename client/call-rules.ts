/** What the calls of a client take: closed lists, since a misspelt filter would give everything, or nothing. */
import { STORED_STATUSES } from '../core/state/view.js';
import { ASK_KINDS } from '../pure/ask-words.js';
import { LISTED_STATUSES } from '../pure/listed-status.js';
import {
  AMOUNT,
  COUNT,
  each,
  FIELDS,
  FLAG,
  isRecord,
  needed,
  oneOf,
  TEXT,
  type OptionRule,
  type OptionRules,
} from '../pure/options.js';
import type { SessionsQuery } from '../store/sessions.js';
import { ID } from './checked-calls.js';
import type { GoalsQuery } from './goals/list-goals.js';
import type { PendingQuery } from './read/ended-runs.js';
import type { ListQuery } from './read/joined-page.js';
import type { StuckQuery } from './read/stuck-runs.js';
import type { FollowTreeOptions } from './read/whole-event.js';
import { FOLLOW } from './runs/run-rules.js';

const LIMIT: OptionRule = needed({
  ...COUNT,
  fits: (value) => value === Number.POSITIVE_INFINITY || COUNT.fits(value),
});

/** The place of a row in the order of a list. */
const place = (at: string, id: string): OptionRule => ({
  is: `{ ${at}, ${id} } of the last row of the page before`,
  fits: (value) =>
    isRecord(value) && typeof value[at] === 'number' && typeof value[id] === 'string',
});

const GOALS: OptionRules<GoalsQuery> = {
  status: oneOf(...STORED_STATUSES),
  ...each(TEXT, 'agent root forksOf stopReason tool errorCode'),
  ...each(AMOUNT, 'costFrom costTo'),
  limit: LIMIT,
  before: place('startedAt', 'runId'),
};
const RUNS: OptionRules<ListQuery> = {
  ...GOALS,
  status: oneOf(...LISTED_STATUSES),
  kind: oneOf('run', 'goal'),
  parent: TEXT,
};
const ASKS: OptionRules<PendingQuery> = {
  ...each(TEXT, 'runId under'),
  search: { is: 'a text', fits: (value) => typeof value === 'string' },
  ...each(FLAG, 'endedOnly newestFirst'),
  kinds: {
    is: `a list of ${ASK_KINDS.join(', ')}`,
    fits: (value) => Array.isArray(value) && value.every(oneOf(...ASK_KINDS).fits),
  },
  limit: LIMIT,
  after: place('openedAt', 'askId'),
};
const SESSIONS: OptionRules<SessionsQuery> = {
  limit: LIMIT,
  caller: TEXT,
  before: place('updatedAt', 'sessionId'),
};
const STUCK: OptionRules<StuckQuery> = { limit: LIMIT, allTenants: FLAG };
const TREE: OptionRules<FollowTreeOptions> = { ...FOLLOW, childrenMax: AMOUNT };

const OF_RUN = { runId: ID };
const OF_QUEUE = { queue: TEXT };

export const CLIENT_CALLS = {
  message: OF_RUN,
  handle: { ...OF_RUN, tenant: TEXT },
  goal: { goalId: ID, tenant: TEXT },
  restartGoal: { goalId: ID, options: FIELDS },
  ownRun: OF_RUN,
  forTenant: { tenant: needed(TEXT) },
  findAsk: { askId: ID, runId: TEXT },
  listRuns: { query: RUNS },
  joinedRuns: { query: RUNS },
  unopenedRun: OF_RUN,
  listGoals: { query: GOALS },
  listAsks: { query: ASKS },
  listSessions: { query: SESSIONS },
  stuckRuns: { query: STUCK },
  follow: { ...OF_RUN, options: FOLLOW },
  followTree: { ...OF_RUN, options: TREE },
  session: { sessionId: ID },
  transcript: { id: ID },
  subAgentTranscripts: OF_RUN,
  waits: OF_RUN,
  historiesOf: OF_RUN,
  workerCount: OF_QUEUE,
  pollers: OF_QUEUE,
};
