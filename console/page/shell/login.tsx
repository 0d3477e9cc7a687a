/** Asking for the token, when the address brought none. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isToken, keepToken } from '../data/session.js';
import { Form } from '../parts/form.js';
import type { Login } from './use-login.js';

const DAMAGED = 'A token has letters, digits and signs of ASCII alone: copy it anew.';
const WHY = {
  damaged: `The token of the link is damaged. ${DAMAGED}`,
  refused: 'The desk does not take this token: it is unknown, or its time is over.',
  over: 'Your session is over: log in again.',
};
const UNSENT = ' Your last action had no effect: repeat it when you are logged in.';

export interface LoginFormProps {
  readonly wanted: Extract<Login, { readonly state: 'token wanted' }>;
  readonly done: () => void;
}

export function LoginForm({ wanted: { why, isUnsent }, done }: LoginFormProps): VNode {
  const input = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState('');
  const told = why === undefined ? '' : WHY[why] + (isUnsent === true ? UNSENT : '');
  useEffect(() => input.current?.focus(), []);
  const submit = (): void => {
    const token = input.current?.value.trim() ?? '';
    setFault(isToken(token) ? '' : DAMAGED);
    if (!isToken(token)) return;
    keepToken(token);
    done();
  };
  return (
    <Form class="login panel" label="Log in" submit={submit}>
      <h1>Log in</h1>
      <p class="fault" role="alert">
        {fault || told}
      </p>
      <p>
        This desk wants a token. A local desk prints a link that has one; other desks have tokens
        from those who run them.
      </p>
      <label for="token">Token</label>
      <input
        id="token"
        ref={input}
        type="password"
        autocomplete="off"
        spellcheck={false}
        required
      />
      <button type="submit" class="button primary">
        Log in
      </button>
    </Form>
  );
}
