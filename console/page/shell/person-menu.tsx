/** Who is logged in; in local development also as whom to act, so that one person can try several. */
import type { TargetedKeyboardEvent, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Person } from '../data/api-types.js';
import { actAs, acting, forgetToken } from '../data/session.js';
import { Fact } from '../parts/fact.js';
import { Form, textIn } from '../parts/form.js';

export interface PersonMenuProps {
  readonly me: Person;
  /** Somebody acts as somebody else now. */
  readonly changed: () => void;
}

export function PersonMenu({ me, changed }: PersonMenuProps): VNode {
  const close = (event: TargetedKeyboardEvent<HTMLDetailsElement>): void => {
    if (event.key !== 'Escape') return;
    event.currentTarget.open = false;
    event.currentTarget.querySelector('summary')?.focus();
  };
  return (
    <details class="menu" onKeyDown={close}>
      <summary aria-label={`Logged in as ${me.name}`}>
        <span class="person-name">{me.name}</span>
      </summary>
      <div class="menu-body panel">
        <dl class="facts">
          <Fact name="Person">{me.id}</Fact>
          <Fact name="Tenant">{me.tenant}</Fact>
          <Fact name="Roles">{me.roles.join(', ')}</Fact>
        </dl>
        {me.via === 'local' && <ActingForm changed={changed} />}
        <button type="button" class="button quiet" onClick={logOut}>
          Log out
        </button>
      </div>
    </details>
  );
}

function logOut(): void {
  forgetToken();
  location.assign('/');
}

const FIELDS = [
  { name: 'as', label: 'Act as' },
  { name: 'roles', label: 'With roles' },
  { name: 'tenant', label: 'Of tenant' },
] as const;

function ActingForm({ changed }: { readonly changed: () => void }): VNode {
  const [said, setSaid] = useState(acting);
  const submit = (): void => {
    const { as = '', roles = '', tenant = '' } = said;
    actAs({ as: as.trim(), roles: roles.trim(), tenant: tenant.trim() });
    changed();
  };
  return (
    <Form class="acting" label="Act as somebody else" submit={submit}>
      <p class="help">Local development: try out what several people have to do.</p>
      {FIELDS.map(({ name, label }) => (
        <div class="form-field" key={name}>
          <label for={`acting-${name}`}>{label}</label>
          <input
            id={`acting-${name}`}
            type="text"
            autocomplete="off"
            // A person has a name that can be seen.
            pattern="\P{C}*"
            value={said[name] ?? ''}
            onInput={(event) => setSaid({ ...said, [name]: textIn(event) })}
          />
        </div>
      ))}
      <button type="submit" class="button">
        Use
      </button>
    </Form>
  );
}
