/** Why something is asked, and what the proposal rests on: texts from outside, which nobody has checked. */
import { el, fact } from './dom.js';
import { now } from './data/connection.ts';
import { dateTime, relative, words } from './format.js';
import { textsWith } from './highlights.js';
import { inertLine } from './inert.js';
import { blobText, resultText } from './json-view.js';
import { recoveryList } from './recovery.js';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./data/api-types.ts').Grounds} Grounds */

/** @type {readonly (readonly [rule: RegExp, words: (match: RegExpExecArray) => string])[]} */
const RULES = [
  [/^policy:(.+):(\d+)$/, (match) => `Rule ${Number(match[2]) + 1} of the policy`],
  [/^tool$/, () => 'The tool itself asks for it'],
  [/^identity$/, () => 'The same was done before'],
  [/^mode:(.+)$/, (match) => `The permission mode ${match[1]}`],
  [/^hook:(.+)$/, (match) => `The hook ${match[1]}`],
  [/^grant:/, () => 'A standing grant'],
];

/** @param {string} rule */
function ruleWords(rule) {
  for (const [pattern, said] of RULES) {
    const match = pattern.exec(rule);
    if (match !== null) return said(match);
  }
  return rule;
}

/** @type {{ readonly [kind in Ask['kind']]: string }} */
const WHY = {
  approval: 'The policy wants a person’s word.',
  outcome:
    'An attempt was lost, and nobody can tell whether it took effect. Find out, then say so.',
  budget: 'The run has used up what it may use.',
  input: 'The model wants to know something.',
  user_message: 'The conversation waits for its user.',
};

/**
 * @param {Ask} ask
 * @param {Grounds} grounds
 */
export function whySection(ask, { rule, ruleReason, proposal, goal }) {
  const isByRule = ask.kind === 'approval' && rule !== undefined;
  return el(
    'section',
    {},
    el('h3', {}, 'Why it is asked'),
    el(
      'dl',
      { class: 'facts' },
      fact('Because', isByRule ? inertLine(ruleWords(rule), 200) : WHY[ask.kind]),
      ruleReason !== undefined && fact('Reason', inertLine(ruleReason, 500)),
      rule !== undefined && fact('Rule', el('code', {}, inertLine(rule, 200))),
      fact('Policy version', el('code', {}, inertLine(ask.policyVersion, 100))),
      goal !== undefined && fact('Task', blobText(goal, ask.runId)),
      proposal !== undefined && fact('Proposed by', inertLine(proposal.model, 100)),
      proposal?.text !== undefined &&
        fact('The model says', el('span', { class: 'quoted' }, blobText(proposal.text, ask.runId))),
    ),
  );
}

/** @type {{ readonly [outcome: string]: string }} */
const TOLD = { not_happened: 'it did not happen', happened: 'it happened' };

/**
 * What is known of a call whose outcome is not: each time it was started, and what people have said of it.
 * @param {Grounds} grounds
 */
export function attemptsSection({ attempts, approvedBy }) {
  if (attempts.length === 0) return null;
  const keys = [...new Set(attempts.map(({ key }) => key))];
  return el(
    'section',
    { class: 'attempts' },
    el('h3', {}, attempts.length === 1 ? 'The attempt' : `${attempts.length} attempts`),
    el('ol', { class: 'attempt-list' }, ...attempts.map(attemptRow)),
    el(
      'dl',
      { class: 'facts' },
      fact('Key', ...keys.flatMap((key, place) => [place > 0 && ', ', keyShown(key)])),
      approvedBy !== undefined && fact('Approved by', inertLine(approvedBy.join(', '), 200)),
    ),
    el(
      'p',
      { class: 'help' },
      'Look for the key at the service that the tool calls: every attempt was given it.',
    ),
  );
}

/** @param {string} key */
function keyShown(key) {
  return el('code', {}, inertLine(key, 200));
}

/** @param {import('./data/api-types.ts').Attempt} attempt */
function attemptRow({ at, told, steps = [] }) {
  const found = steps.length > 0 && recoveryList(steps);
  const began = el('b', {}, `Started ${dateTime(at)}`);
  const ago = ` (${relative(at, now())})`;
  if (told === undefined) return el('li', {}, began, `${ago}; nobody knows how it ended.`, found);
  const said = TOLD[told.outcome] ?? words(told.outcome);
  const who = inertLine(told.by.join(', '), 200);
  return el('li', {}, began, `${ago}; ${said}, said `, who, ` on ${dateTime(told.at)}.`, found);
}

/**
 * @param {Grounds} grounds
 * @param {Ask} ask
 */
export function sourcesSection({ sources, more }, ask) {
  const rows = sources.map(({ kind, tool, status, at, content }) =>
    el(
      'li',
      { class: 'source' },
      el(
        'details',
        {},
        el(
          'summary',
          {},
          el('span', { class: 'badge untrusted' }, 'untrusted'),
          ' ',
          kind === 'user' ? 'Message of the user' : inertLine(tool ?? 'tool', 100),
          status === 'error' && el('span', { class: 'badge error' }, 'failed'),
          el('span', { class: 'source-time' }, dateTime(at)),
          el('span', { class: 'source-preview' }, inertLine(content.text, 120)),
        ),
        el('div', { class: 'source-text' }, resultText(content, ask.runId)),
      ),
    ),
  );
  return el(
    'section',
    {},
    el('h3', {}, 'What it rests on'),
    rows.length === 0
      ? el('p', { class: 'help' }, 'The model had read nothing but its task.')
      : el(
          'p',
          { class: 'help' },
          'What the model had read before. It comes from outside: nobody has checked it, and it may try to talk you into something.',
        ),
    more && el('p', { class: 'help' }, 'There are older ones, which the run shows.'),
    el('ol', { class: 'sources' }, ...rows),
  );
}

/**
 * Where a value stands word for word.
 * @param {string} value
 * @param {Grounds} grounds
 * @returns {{ readonly kind: string, readonly text: string } | undefined}
 */
export function foundIn(value, { sources, goal }) {
  if (goal !== undefined && textsWith(value, [goal.text]).length > 0) {
    return { kind: 'task', text: 'as the task says' };
  }
  const [place] = textsWith(
    value,
    sources.map(({ content }) => content.text),
  ).slice(-1);
  const source = place === undefined ? undefined : sources[place];
  if (source === undefined) return undefined;
  const name =
    source.kind === 'user' ? 'a message of the user' : `the output of ${source.tool ?? 'a tool'}`;
  return { kind: 'source', text: `stands in ${name} (untrusted)` };
}
