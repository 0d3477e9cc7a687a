/** Of one question: how long it is open, how it ended, who may decide, and who has. */
import { now } from './data/connection.ts';
import { el, fact, fill } from './dom.js';
import { dateTime, duration, exactTime, relative, words } from './format.js';
import { inertLine } from './inert.js';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./data/api-types.ts').Person} Person */

const SOON_MS = 600_000;

/**
 * Why this person may not decide; undefined: they may, as far as can be told here.
 * @param {Ask} ask
 * @param {Person} me
 */
export function objectionTo(ask, me) {
  const mine = ask.votes?.find(({ by }) => by === me.id);
  if (mine !== undefined) return `You have decided: ${words(mine.decision)}.`;
  if (ask.answeredBy === 'customer') {
    return ask.requestedBy === me.id ? undefined : 'Only the customer can answer this.';
  }
  if (ask.requestedBy === me.id && (ask.kind !== 'input' || ask.answeredBy === 'staff')) {
    return 'You asked for this yourself, so somebody else has to decide.';
  }
  const wanted = ask.rolesNow;
  if (wanted.length === 0 || me.roles.some((role) => wanted.includes(role))) return undefined;
  return `This needs one of the roles: ${wanted.join(', ')}.`;
}

/**
 * @param {Ask} first
 * @param {Person} me
 */
export function statusPanel(first, me) {
  let ask = first;
  const text = el('span', { class: 'left' });
  const meter = el('meter', { min: 0, max: 1, 'aria-hidden': 'true' });
  const element = el('p', { class: 'countdown' }, text, meter);
  const people = el('dl', { class: 'facts' });
  let drawn = '';
  const tick = () => {
    const left = ask.expiresAt - now();
    const isOpen = ask.outcome === 'pending';
    element.classList.toggle('soon', isOpen && left < SOON_MS);
    meter.hidden = !isOpen;
    meter.value = Math.max(0, Math.min(1, left / Math.max(1, ask.expiresAt - ask.openedAt)));
    text.textContent = isOpen ? openText(ask, left) : closedText(ask);
    text.title = exactTime(isOpen ? ask.expiresAt : (ask.resolvedAt ?? ask.expiresAt));
  };
  const refresh = (/** @type {Ask} */ fresh) => {
    ask = fresh;
    tick();
    // What is read aloud or selected must not be drawn anew for nothing.
    const state = JSON.stringify([ask.votes, ask.outcome, ask.by, ask.rolesNow, ask.notices]);
    if (state !== drawn) fill(people, ...peopleFacts(ask, me));
    drawn = state;
  };
  return { element, people, tick, refresh };
}

/**
 * @param {Ask} ask
 * @param {number} left
 */
function openText({ expiresAt }, left) {
  if (left <= 0) return 'The time is up.';
  return `Expires in ${duration(Math.ceil(left / 1_000) * 1_000).replace('.0 s', ' s')} (${dateTime(expiresAt)})`;
}

/** @param {Ask} ask */
function closedText({ outcome, resolvedAt }) {
  const when = resolvedAt === undefined ? '' : `, ${relative(resolvedAt, now())}`;
  return `${words(outcome).replace(/^./, (letter) => letter.toUpperCase())}${when}`;
}

/**
 * @param {Ask} ask
 * @param {Person} me
 */
function peopleFacts(ask, me) {
  return [
    fact('May decide', deciders(ask)),
    ask.requestedBy !== undefined &&
      ask.answeredBy !== 'customer' &&
      fact('Not', inertLine(ask.requestedBy), ', who asked for it'),
    ask.escalation !== undefined && fact('Escalation', ...escalationText(ask.escalation)),
    ask.outcome === 'pending'
      ? fact('So far', ...votesText(ask, me))
      : fact('Decided by', ask.by.length === 0 ? 'nobody' : names(ask.by)),
    ask.reason !== undefined && fact('Reason', inertLine(ask.reason, 500)),
    ask.outcome === 'pending' && noticesFact(ask.notices ?? []),
  ].filter((row) => row !== false);
}

/** @typedef {NonNullable<Ask['notices']>[number]} Notice */

/** @param {readonly Notice[]} notices */
function noticesFact(notices) {
  return (
    notices.length > 0 && fact('Notified', el('ul', { class: 'votes' }, ...notices.map(noticeLine)))
  );
}

/** @param {Notice} notice */
function noticeLine({ webhook, state, tries, nextAt, fault = '' }) {
  const name = inertLine(webhook, 40);
  if (state === 'sent') return el('li', {}, name, ': told');
  const failed = `${tries} ${tries === 1 ? 'try' : 'tries'}${fault && `, ${fault}`}`;
  if (state === 'given_up') return el('li', { class: 'alarm' }, name, `: given up after ${failed}`);
  if (tries === 0) return el('li', {}, name, ': not told yet');
  return el('li', {}, name, `: not told yet, ${failed}; again ${dateTime(nextAt ?? now())}`);
}

/** @param {Ask} ask */
function deciders({ roles, quorum, answeredBy, requestedBy }) {
  if (answeredBy === 'customer') return inertLine(requestedBy ?? 'the customer');
  const who = roles.length === 0 ? 'anybody with access' : roles.join(' or ');
  return inertLine(quorum > 1 ? `${quorum} different people: ${who}` : who);
}

/** @param {NonNullable<Ask['escalation']>} escalation */
function escalationText({ at, roles }) {
  const when =
    at <= now() ? 'as well now' : `as well from ${dateTime(at)} (${relative(at, now())})`;
  return [inertLine(roles.join(' or ')), `, ${when}`];
}

/**
 * @param {Ask} ask
 * @param {Person} me
 */
function votesText({ votes, quorum }, me) {
  if (votes === undefined) return ['not known while no worker answers'];
  const need = quorum > 1 ? ` of ${quorum}` : '';
  const approvals = votes.filter(({ decision }) => decision === 'approve').length;
  const list = votes.map(({ by, decision, decidedAt }) =>
    el(
      'li',
      {},
      inertLine(by),
      by === me.id && ' (you)',
      `: ${words(decision)}, `,
      el('time', {}, dateTime(decidedAt)),
    ),
  );
  if (quorum === 1 && votes.length === 0) return ['nobody has decided'];
  return [
    el('span', { class: 'quorum' }, `${approvals}${need} approved`),
    list.length > 0 && el('ul', { class: 'votes' }, ...list),
  ];
}

/** @param {readonly string[]} by */
function names(by) {
  return el('span', {}, ...by.flatMap((name, place) => [place > 0 && ', ', inertLine(name)]));
}
