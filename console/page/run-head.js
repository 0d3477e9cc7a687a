/** The head of a run: what it is, how it stands, what can be done about it. */
import { el, fact, fill } from './dom.js';
import { now } from './connection.js';
import { dateTime, relative, words } from './format.js';
import { inertBlock, inertLine } from './inert.js';
import { blobText, readable } from './json-view.js';
import { controlPanel } from './run-control.js';
import { excerptOf } from './run-timeline.js';
import { statusBadge } from './runs.js';

/** @typedef {import('./api-types.js').RunDetail} RunDetail */
/** @typedef {import('./api-types.js').RunResult} RunResult */
/** @typedef {import('./api-types.js').Ask} Ask */

const ELSEWHERE = { target: '_blank', rel: 'noopener noreferrer' };
const ENDED = ['completed', 'stopped', 'failed', 'cancelled'];

/**
 * @param {RunDetail} first
 * @param {() => void} changed
 */
export function runHead(first, changed) {
  const { temporalUrl } = first;
  const status = el('span');
  const when = el('span', { class: 'help' });
  const notices = el('div', { class: 'notices' });
  const controls = controlPanel(first.runId, changed);
  const goal = el('details', { class: 'goal' }, el('summary', {}, inertLine(first.goal, 160)));
  goal.append(inertBlock(first.goal), runFacts(first));
  let drawn = '';
  const element = el(
    'header',
    { class: 'run-head' },
    el(
      'p',
      { class: 'run-links' },
      el('a', { href: '/runs' }, '← Runs'),
      temporalUrl !== undefined &&
        el('a', { href: temporalUrl, ...ELSEWHERE }, 'In Temporal’s own page ↗'),
    ),
    el('div', { class: 'card-title' }, status, el('h1', {}, inertLine(first.runId, 128)), when),
    goal,
    notices,
    controls.element,
  );
  return {
    element,
    /** @param {RunDetail} run */
    refresh(run) {
      const { completedAt, startedAt } = run;
      when.textContent =
        completedAt === undefined
          ? `began ${relative(startedAt, now())}`
          : `${dateTime(startedAt)}, ended ${relative(completedAt, now())}`;
      const state = JSON.stringify([run.status, run.pending.length, run.result !== undefined]);
      if (state === drawn) return;
      drawn = state;
      fill(status, statusBadge(run.status));
      fill(notices, ...pendingNotes(run), run.result !== undefined && resultNote(run));
      controls.refresh(!ENDED.includes(run.status));
    },
  };
}

/** @param {RunDetail} run */
function runFacts(run) {
  const { agent, model, caller, taskId, sessionId, startedAt } = run;
  return el(
    'dl',
    { class: 'facts' },
    fact('Agent', inertLine(agent)),
    fact('Model', inertLine(model)),
    caller !== undefined && fact('For', inertLine(caller)),
    fact('Task', el('code', {}, inertLine(taskId))),
    sessionId !== undefined && fact('Session', el('code', {}, inertLine(sessionId))),
    fact('Began', dateTime(startedAt)),
  );
}

/** @param {RunDetail} run */
function pendingNotes({ pending }) {
  return /** @type {Ask[]} */ (pending)
    .filter(({ kind }) => kind !== 'user_message')
    .map(({ askId, kind, tool }) =>
      el(
        'p',
        { class: 'notice waiting' },
        kind === 'approval' ? 'It waits for approval of ' : 'It waits for an answer',
        kind === 'approval' && inertLine(tool ?? 'an action', 100),
        '. ',
        el('a', { href: `/inbox/${encodeURIComponent(askId)}` }, 'Look at it'),
      ),
    );
}

/** @param {RunDetail} run */
function resultNote({ result, runId }) {
  const {
    status,
    stopReason,
    detail,
    phase,
    nextSafeAction,
    answer,
    output,
    partialOutput,
    budgetOverrun,
  } = /** @type {RunResult} */ (result);
  const why = [stopReason, detail, phase]
    .filter((word) => word !== undefined && word !== status)
    .map((word) => words(word ?? ''));
  return el(
    'section',
    { class: `notice result ${status}`, 'aria-label': 'Result' },
    el('p', {}, el('b', {}, words(status)), why.length > 0 && `: ${why.join(', ')}`),
    nextSafeAction !== undefined &&
      el('p', {}, el('b', {}, 'Next safe action: '), inertLine(nextSafeAction, 500)),
    budgetOverrun === true &&
      el('p', {}, 'It cost more than its budget: the vendor billed above its own bound.'),
    answer !== undefined && el('div', { class: 'answer' }, blobText(excerptOf(answer), runId)),
    output !== undefined && readable(output, runId),
    partialOutput !== undefined &&
      el('div', { class: 'answer' }, blobText(excerptOf(partialOutput), runId)),
  );
}
