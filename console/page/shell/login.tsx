/** Asking for the token, when the address brought none. */
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { keepToken } from '../data/session.js';
import { Form } from '../parts/form.js';

export function LoginForm({ done }: { readonly done: () => void }): VNode {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const submit = (): void => {
    const token = input.current?.value.trim() ?? '';
    if (!/^[\x21-\x7e]{1,8192}$/.test(token)) return;
    keepToken(token);
    done();
  };
  return (
    <Form class="login panel" label="Log in" submit={submit}>
      <h1>Log in</h1>
      <p>This desk wants a token. holdfast dev prints a link that has one.</p>
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
