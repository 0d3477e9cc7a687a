/** What a person may do here, and what is said in place of a view that is not for them. */
import type { VNode } from 'preact';
import type { Person } from '../data/api-types.js';
import { InertLine } from './inert.js';
import { useTitle } from './use-title.js';

export type Access = Person['may'][number];

export function may({ may: allowed }: Person, access: Access): boolean {
  return allowed.includes(access);
}

const WORDS: { readonly [access in Access]: string } = {
  answer: 'decide on and answer the questions that are for you',
  read: 'see runs, goals and all questions',
  message: 'send messages to runs',
  interrupt: 'stop runs',
  steer: 'say something to goals',
  freeze: 'freeze tools and agents, and lift freezes',
  audit: 'read the audit trail',
  start: 'start runs and goals',
  connectors: 'approve tools of connectors',
};

const VIEWS = {
  read: 'Runs, goals and freezes are',
  audit: 'The audit trail is',
  connectors: 'Connectors are',
} as const;

export interface NotForYouProps {
  readonly me: Person;
  readonly needed: keyof typeof VIEWS;
}

export function NotForYou({ me, needed }: NotForYouProps): VNode {
  useTitle('Not for your roles');
  const allowed = me.may.map((access) => WORDS[access]);
  return (
    <div class="empty">
      <h1>Not for your roles</h1>
      <p>
        {`${VIEWS[needed]} for other roles than yours (`}
        <InertLine text={me.roles.join(', ')} max={300} />
        {').'}
      </p>
      {allowed.length > 0 && (
        <>
          <p>You may:</p>
          <ul>
            {allowed.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </>
      )}
      <a href="/">Your questions</a>
    </div>
  );
}
