/** What the calls of a client take: closed lists, since a misspelt filter would give everything, or nothing. */
import { STORED_STATUSES } from '../core/state/view.js';
import { ASK_KINDS } from '../pure/ask-words.js';
import { LISTED_STATUSES } from '../pure/listed-status.js';
import { each, oneOf, rules, type OptionRules } from '../pure/options.js';
import type { SessionsQuery } from '../store/sessions.js';
import type { GoalsQuery } from './goals/list-goals.js';
import type { PendingQuery } from './read/ended-runs.js';
import type { ListQuery } from './read/joined-page.js';
import type { StuckQuery } from './read/stuck-runs.js';
import type { FollowTreeOptions } from './read/whole-event.js';
import type { FollowOptions } from './runs/follow-run.js';

const GOALS: OptionRules<GoalsQuery> = {
  ...rules('limit! limit, text agent root forksOf stopReason tool errorCode'),
  ...rules('amount costFrom costTo, object before'),
  status: oneOf(...STORED_STATUSES),
};
const RUNS: OptionRules<ListQuery> = {
  ...GOALS,
  ...rules('text parent'),
  status: oneOf(...LISTED_STATUSES),
  kind: oneOf('run', 'goal'),
};
const ASKS: OptionRules<PendingQuery> = {
  ...rules(
    'limit! limit, text runId under, words search, flag endedOnly newestFirst, object after',
  ),
  kinds: {
    is: `a list of ${ASK_KINDS.join(', ')}`,
    fits: (value) => Array.isArray(value) && value.every(oneOf(...ASK_KINDS).fits),
  },
};
const SESSIONS: OptionRules<SessionsQuery> = rules('limit! limit, text caller, object before');
const STUCK: OptionRules<StuckQuery> = rules('limit! limit, flag allTenants');
const FOLLOW: OptionRules<FollowOptions> = {
  ...rules('number since, text after, signal signal'),
  tokensSince: {
    is: 'a whole number, or Infinity',
    fits: (value) => value === Infinity || Number.isSafeInteger(value),
  },
};
const TREE: OptionRules<FollowTreeOptions> = { ...FOLLOW, ...rules('amount childrenMax') };
const RUN = rules('text! runId');
export const CLIENT_CALLS = {
  ...each(RUN, 'message ownRun unopenedRun subAgentTranscripts waits historiesOf'),
  ...each({ query: RUNS }, 'listRuns joinedRuns'),
  ...each(rules('text queue'), 'workerCount pollers'),
  handle: rules('text! runId, text tenant'),
  goal: rules('text! goalId, text tenant'),
  restartGoal: rules('text! goalId, object options'),
  forTenant: rules('text! tenant'),
  findAsk: rules('text! askId, text runId'),
  listGoals: { query: GOALS },
  listAsks: { query: ASKS },
  listSessions: { query: SESSIONS },
  stuckRuns: { query: STUCK },
  follow: { ...RUN, options: FOLLOW },
  followTree: { ...RUN, options: TREE },
  session: rules('text! sessionId'),
  transcript: rules('text! id'),
};
