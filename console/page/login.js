/** Asking for the token, when the address brought none. */
import { el } from './dom.js';
import { keepToken } from './session.js';

/** @param {() => void} done */
export function loginView(done) {
  const input = el('input', {
    id: 'token',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
  });
  const form = el(
    'form',
    { class: 'login panel' },
    el('h1', {}, 'Log in'),
    el(
      'p',
      {},
      'This desk wants a token. `holdfast dev` prints a link that has one.'.replaceAll('`', ''),
    ),
    el('label', { for: 'token' }, 'Token'),
    input,
    el('button', { type: 'submit', class: 'button primary' }, 'Log in'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const token = input.value.trim();
    if (!/^[\x21-\x7e]{1,8192}$/.test(token)) return;
    keepToken(token);
    done();
  });
  return form;
}
