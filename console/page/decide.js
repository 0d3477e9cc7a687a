/**
 * Deciding. Every decision names the hash of the action that is on the card, and a key of its own: sent again
 * after a lost answer it is the same decision. Invariant: a panel is for one action, the one it was made with;
 * whoever learns of another one makes another panel.
 */
import { button, el, fill } from './dom.js';
import { newKey, pathOf, post, wordsOf } from './data/api.ts';
import { correctionForm } from './decide-correct.js';
import { grantForm } from './decide-grant.js';
import { budgetChoices, outcomeChoices, questionForm } from './decide-others.js';
import { objectionTo } from './ask-status.js';
import { words } from './format.js';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./data/api-types.ts').Grounds} Grounds */
/** @typedef {import('./data/api-types.ts').Person} Person */
/** @typedef {import('./data/api-types.ts').Delivery} Delivery */
/**
 * What the parts of the panel are given.
 * @typedef {object} Desk
 * @property {(decision: { readonly decision: string, readonly [name: string]: unknown }) => Promise<void>} decide
 * @property {(value: unknown) => Promise<void>} answer
 * @property {(element: HTMLElement | undefined) => void} open Shows a form in place of the buttons; undefined: the buttons again.
 * @property {() => Grounds | undefined} grounds Undefined: not there yet.
 * @property {(text: string) => void} complain
 */

/**
 * @param {Ask} first
 * @param {{ readonly me: Person, readonly changed: () => void }} options
 */
export function decisionPanel(first, { me, changed }) {
  /** @type {Grounds | undefined} */
  let grounds;
  /** @type {string | undefined} */
  let state;
  let takesGrant = false;
  const parts = panelParts();
  const { said, fault, choices, form, element } = parts;
  const post = sender(first, parts);
  const open = (/** @type {HTMLElement | undefined} */ shown) => {
    fault.textContent = '';
    choices.hidden = shown !== undefined;
    fill(form, shown);
    const input = shown?.querySelector('input, textarea, select');
    if (input instanceof HTMLElement) input.focus();
    else if (shown === undefined) choices.querySelector('button')?.focus();
  };
  const send = async (/** @type {'decisions' | 'answers'} */ what, /** @type {object} */ body) => {
    const delivery = await post(what, body);
    if (delivery !== undefined) {
      fill(form);
      choices.hidden = false;
      said.textContent = deliveredText(delivery);
      focusIn(element, said);
    }
    changed();
  };
  /** @type {Desk} */
  const desk = {
    decide: (decision) => send('decisions', { argsHash: first.argsHash, ...decision }),
    answer: (value) => send('answers', { value }),
    open,
    grounds: () => grounds,
    complain: (text) => (fault.textContent = text),
  };
  return {
    element,
    /** @param {Ask} fresh */
    refresh(fresh) {
      const isOpen = fresh.outcome === 'pending';
      const why = isOpen ? objectionTo(fresh, me) : `It is ${words(fresh.outcome)}.`;
      // While no worker answers nobody knows; what was offered once stays, and the run has the last word.
      takesGrant ||= fresh.takesGrant === true;
      const next = JSON.stringify([why, isOpen, takesGrant]);
      // A button must not be another one when somebody presses it: what comes later comes after the others.
      if (next === state) return;
      state = next;
      const offered = { ...first, takesGrant: takesGrant || undefined };
      redraw(parts, isOpen, why === undefined ? choicesFor(offered, desk) : [whyNot(why)]);
    },
    /** @param {Grounds} found */
    showGrounds(found) {
      grounds = found;
    },
    /** Whether somebody has begun to say something. */
    isBegun: () =>
      form.childElementCount > 0 ||
      [...choices.querySelectorAll('textarea')].some(({ value }) => value.trim() !== ''),
  };
}

/**
 * Whoever was on something that goes away is where the answer is, not at the top of the page.
 * @param {HTMLElement} panel
 * @param {Element | null} place
 */
function focusIn(panel, place) {
  const at = document.activeElement;
  const isElsewhere = at !== document.body && !panel.contains(at);
  if (!isElsewhere && place instanceof HTMLElement) place.focus();
}

/**
 * @param {ReturnType<typeof panelParts>} parts
 * @param {boolean} isOpen
 * @param {readonly HTMLElement[]} wanted
 */
function redraw({ element, form, choices }, isOpen, wanted) {
  const wasHere = element.contains(document.activeElement);
  if (!isOpen) fill(form);
  choices.hidden = form.childElementCount > 0;
  draw(choices, wanted);
  if (wasHere && !element.contains(document.activeElement)) {
    focusIn(element, choices.querySelector('button, .why-not'));
  }
}

/**
 * A choice that stays the same stays the same element, so that it keeps the focus.
 * @param {HTMLElement} choices
 * @param {readonly HTMLElement[]} wanted
 */
function draw(choices, wanted) {
  const isLonger = choices.childElementCount < wanted.length;
  const isSame = [...choices.children].every(
    (child, place) => child.matches('.button') && child.textContent === wanted[place]?.textContent,
  );
  if (isLonger && isSame) choices.append(...wanted.slice(choices.childElementCount));
  else fill(choices, wanted);
}

/** @param {string} why */
function whyNot(why) {
  return el('p', { class: 'why-not', tabindex: -1 }, why);
}

function panelParts() {
  const said = el('p', { class: 'said', role: 'status', tabindex: -1 });
  const fault = el('p', { class: 'fault', role: 'alert' });
  const choices = el('div', { class: 'choices' });
  // What is complained about is being mended.
  const oninput = () => (fault.textContent = '');
  const form = el('div', { class: 'decide-form', oninput });
  const label = { class: 'decide', 'aria-label': 'Decide' };
  const element = el('section', label, fault, said, form, choices);
  return { said, fault, choices, form, element };
}

/**
 * Sends what somebody said. Requests of one wording share a key, as long as nobody knows what became of them:
 * pressing again after a lost answer is no second decision.
 * @param {Ask} ask
 * @param {{ readonly fault: HTMLElement }} parts
 * @returns {(what: 'decisions' | 'answers', body: object) => Promise<Delivery | undefined>}
 */
function sender({ askId }, { fault }) {
  /** @type {Map<string, string>} */
  const keys = new Map();
  return async (what, body) => {
    fault.textContent = '';
    const wording = JSON.stringify(body);
    const key = keys.get(wording) ?? newKey();
    keys.set(wording, key);
    try {
      return await post(
        pathOf(what === 'answers' ? 'questions' : 'approvals', askId, what),
        body,
        key,
      );
    } catch (error) {
      const { status = 0 } = /** @type {{ status?: number }} */ (error);
      if (status >= 400 && status < 500 && status !== 429) keys.delete(wording);
      fault.textContent = wordsOf(error);
      return undefined;
    }
  };
}

/** @param {Delivery} delivery */
function deliveredText({ state, outcome }) {
  if (state === 'sent') return 'Sent. It counts as soon as a worker has taken it up.';
  if (outcome === 'pending') return 'Your word is noted. More people have to decide.';
  return `Decided: ${words(outcome ?? state)}.`;
}

/**
 * @param {Ask} ask
 * @param {Desk} desk
 */
function choicesFor(ask, desk) {
  switch (ask.kind) {
    case 'approval':
      return approvalChoices(ask, desk);
    case 'outcome':
      return outcomeChoices(desk);
    case 'budget':
      return budgetChoices(ask, desk);
    default:
      return [questionForm(desk)];
  }
}

/**
 * @param {Ask} ask
 * @param {Desk} desk
 */
function approvalChoices(ask, desk) {
  /** @param {(ask: Ask, desk: Desk, grounds: Grounds) => HTMLElement} form */
  const opens = (form) => () => {
    const grounds = desk.grounds();
    // They carry the schema that the form is made from.
    if (grounds === undefined) desk.complain('What it rests on is still being fetched.');
    else desk.open(form(ask, desk, grounds));
  };
  const more = button('Approve more like it …', { press: opens(grantForm) });
  return [
    button('Approve', { kind: 'primary', press: () => desk.decide({ decision: 'approve' }) }),
    button('Correct …', { press: opens(correctionForm) }),
    button('Reject …', { kind: 'danger', press: () => desk.open(rejectForm(desk)) }),
    ...(ask.takesGrant === true ? [more] : []),
  ];
}

/** @param {Desk} desk */
function rejectForm(desk) {
  const reason = el('textarea', { id: 'reject-reason', rows: 2, maxlength: 2_000 });
  return el(
    'form',
    {
      'aria-label': 'Reject',
      onsubmit: (event) => {
        event.preventDefault();
        const text = reason.value.trim();
        if (text === '')
          desk.complain('Say why, in a few words: the model and the record are told.');
        else void desk.decide({ decision: 'reject', reason: text });
      },
    },
    el('label', { for: 'reject-reason' }, 'Why not? The model is told.'),
    reason,
    el(
      'div',
      { class: 'choices' },
      el('button', { type: 'submit', class: 'button danger' }, 'Reject'),
      button('Back', { press: () => desk.open(undefined) }),
    ),
  );
}
