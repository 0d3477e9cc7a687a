/**
 * What a person sees before they decide. Invariant: the exact arguments are always on it, whatever else is
 * found in them; nothing on it was judged by the model.
 */
import { budgetFigures, budgetTitle } from './budget-words.js';
import { changesBetween } from './changes.js';
import { el, fact, fill } from './dom.js';
import { dateTime, relative } from './format.js';
import { now } from './data/connection.ts';
import { highlightsOf } from './highlights.js';
import { KIND_NAMES } from './inbox-row.js';
import { inertBlock, inertLine, mixesAlphabets } from './inert.js';
import { exact, readable } from './json-view.js';
import { limitsSection, repeatsSection } from './ask-controls.js';
import { attemptsSection, foundIn, sourcesSection, whySection } from './ask-grounds.js';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./data/api-types.ts').Grounds} Grounds */
/** @typedef {import('./data/api-types.ts').Json} Json */
/** @typedef {import('./highlights.js').Highlight} Highlight */

/**
 * @param {Ask} ask
 * @param {{ readonly status: HTMLElement, readonly people: HTMLElement }} live
 */
export function askCard(ask, { status, people }) {
  const title = el('h2', { tabindex: -1 }, ...titleOf(ask));
  const args = /** @type {Json | undefined} */ (ask.args);
  const highlights =
    ask.kind === 'budget' ? { amounts: budgetFigures(ask), recipients: [] } : highlightsOf(args);
  const amounts = highlights.amounts.map((one) => highlight(one, 'amount'));
  const recipients = highlights.recipients.map((one) => highlight(one, 'recipient'));
  const changed = el('div');
  const attempts = el('div');
  const grounds = el(
    'div',
    { class: 'grounds' },
    el('p', { class: 'help' }, 'Fetching what it rests on …'),
  );
  const element = el(
    'article',
    { class: 'card', 'aria-label': 'The question' },
    el(
      'header',
      { class: 'card-head' },
      el('a', { class: 'back', href: '/' }, '← Inbox'),
      el(
        'div',
        { class: 'card-title' },
        el('span', { class: `badge ${ask.kind}` }, KIND_NAMES[ask.kind]),
        title,
      ),
      status,
    ),
    ask.question !== undefined && el('div', { class: 'question' }, inertBlock(ask.question)),
    (amounts.length > 0 || recipients.length > 0) &&
      el('div', { class: 'highlights' }, ...amounts, ...recipients),
    attempts,
    changed,
    ask.repeats !== undefined && repeatsSection(ask.repeats),
    ask.limits !== undefined && limitsSection(ask.limits),
    ask.args !== undefined && argumentsSection(ask),
    el('section', {}, el('h3', {}, 'Who decides'), people),
    grounds,
    footer(ask),
  );
  return {
    element,
    title,
    /** @param {Grounds} found */
    showGrounds(found) {
      fill(attempts, attemptsSection(found));
      fill(changed, correctionSection(ask, found));
      fill(grounds, whySection(ask, found), sourcesSection(found, ask));
      if (ask.kind === 'budget') return;
      for (const one of [...amounts, ...recipients]) showOrigin(one, found);
    },
  };
}

/** @param {Ask} ask */
function titleOf(ask) {
  const { kind, tool, toolVersion } = ask;
  switch (kind) {
    case 'approval':
    case 'outcome': {
      const version = el('span', { class: 'version' }, inertLine(`@${toolVersion ?? ''}`, 40));
      const name = inertLine(tool ?? '', 128);
      return kind === 'approval' ? [name, version] : ['Did it happen? ', name, version];
    }
    case 'budget':
      return [inertLine(budgetTitle(ask), 80)];
    default:
      return ['A question to people'];
  }
}

/**
 * @param {Highlight} found
 * @param {'amount' | 'recipient'} kind
 */
function highlight(found, kind) {
  const strange = mixesAlphabets(found.value);
  return el(
    'div',
    { class: `highlight ${kind}`, 'data-value': found.value.slice(0, 500) },
    el('span', { class: 'highlight-name' }, inertLine(found.name, 60)),
    el('span', { class: 'highlight-value' }, inertLine(found.value, 120)),
    found.exact !== found.value &&
      el('span', { class: 'highlight-exact' }, inertLine(found.exact, 120)),
    strange && el('span', { class: 'alarm' }, 'Letters of several alphabets in one word'),
  );
}

/**
 * @param {HTMLElement} element
 * @param {Grounds} grounds
 */
function showOrigin(element, grounds) {
  const value = element.dataset['value'] ?? '';
  const where = foundIn(value, grounds);
  if (where !== undefined)
    element.append(el('span', { class: `origin ${where.kind}` }, where.text));
}

/** @param {Ask} ask */
function argumentsSection({ args, runId, kind }) {
  return el(
    'section',
    {},
    el('h3', {}, kind === 'budget' ? 'Exact figures' : 'Exact arguments'),
    readable(args, runId),
    exact('As JSON', args),
  );
}

/**
 * @param {Ask} ask
 * @param {Grounds} grounds
 */
function correctionSection(ask, { corrections }) {
  const first = corrections[0];
  const last = corrections.at(-1);
  if (first?.original === undefined || last === undefined) return null;
  const isOtherTool = first.original.tool !== ask.tool;
  const before = /** @type {Json} */ (first.original.args);
  const changes = changesBetween(before, /** @type {Json} */ (ask.args));
  const who = el('span', {}, ...last.by.flatMap((by, place) => [place > 0 && ', ', inertLine(by)]));
  return el(
    'section',
    { class: 'corrected' },
    el('h3', {}, 'Corrected'),
    el('p', {}, 'By ', who, `, ${dateTime(last.at)}. Earlier approvals do not count for it.`),
    last.reason !== undefined && el('p', {}, 'Reason: ', inertLine(last.reason, 500)),
    isOtherTool &&
      el('p', {}, 'Proposed was another tool: ', el('del', {}, inertLine(first.original.tool))),
    el(
      'table',
      { class: 'changes' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          ...['What', 'Proposed', 'Now'].map((name) => el('th', { scope: 'col' }, name)),
        ),
      ),
      el('tbody', {}, ...changes.map((change) => changeRow(change, ask.runId))),
    ),
  );
}

/**
 * @param {import('./changes.js').Change} change
 * @param {string} runId
 */
function changeRow({ path, before, after }, runId) {
  const shown = (/** @type {Json | undefined} */ value) =>
    value === undefined ? el('span', { class: 'none' }, 'nothing') : readable(value, runId);
  return el(
    'tr',
    {},
    el('th', { scope: 'row' }, inertLine(path, 100)),
    el('td', {}, el('del', {}, shown(before))),
    el('td', {}, el('ins', {}, shown(after))),
  );
}

/** @param {Ask} ask */
function footer({ runId, askId, argsHash, openedAt }) {
  return el(
    'dl',
    { class: 'facts card-foot' },
    fact('Run', el('a', { href: `/runs/${encodeURIComponent(runId)}` }, inertLine(runId, 128))),
    fact('Asked', `${dateTime(openedAt)} (${relative(openedAt, now())})`),
    fact('Question', el('code', {}, inertLine(askId, 300))),
    fact('Hash of the action', el('code', {}, argsHash)),
  );
}
