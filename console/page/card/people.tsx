/** Who may decide on a question, who has, and who was told of it. */
import type { VNode } from 'preact';
import type { Ask, Person } from '../data/api-types.js';
import { now } from '../data/connection.js';
import { Fact } from '../parts/fact.js';
import { dateTime, plural, relative, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { Names } from '../parts/names.js';

export interface PeopleProps {
  readonly ask: Ask;
  readonly me: Person;
}

export function People({ ask, me }: PeopleProps): VNode {
  const { requestedBy, steeredBy = [], goal, answeredBy, escalation } = ask;
  const { outcome, by, approvedBy = [], quorum, reason, notices = [] } = ask;
  const isOpen = outcome === 'pending';
  return (
    <dl class="facts">
      <Fact name="May decide">
        <InertLine text={deciders(ask)} />
      </Fact>
      {requestedBy !== undefined && answeredBy !== 'customer' && (
        <Fact name="Not">
          <InertLine text={requestedBy} />
          {goal === undefined ? ', who asked for it' : ', who started the goal'}
        </Fact>
      )}
      {steeredBy.length > 0 && (
        <Fact name="Nor">
          <Names names={steeredBy} />
          {', who said something to the goal since its last cycle'}
        </Fact>
      )}
      {escalation !== undefined && (
        <Fact name="Escalation">
          <InertLine text={escalation.roles.join(' or ')} />
          {`, ${escalationTime(escalation.at)}`}
        </Fact>
      )}
      {isOpen ? (
        <Fact name="So far">
          <Votes ask={ask} me={me} />
        </Fact>
      ) : (
        <Fact name="Decided by">{by.length === 0 ? 'nobody' : <Names names={by} />}</Fact>
      )}
      {approvedBy.length > 0 && (
        <Fact name="Approved by">
          <Names names={approvedBy} />
          {`, ${approvedBy.length} of ${quorum}`}
        </Fact>
      )}
      {reason !== undefined && (
        <Fact name="Reason">
          <InertLine text={reason} max={500} />
        </Fact>
      )}
      {isOpen && notices.length > 0 && (
        <Fact name="Notified">
          <ul class="votes">
            {notices.map((notice) => (
              <NoticeLine key={notice.webhook} notice={notice} />
            ))}
          </ul>
        </Fact>
      )}
    </dl>
  );
}

function deciders({ roles, quorum, answeredBy, requestedBy = 'the customer' }: Ask): string {
  if (answeredBy === 'customer') return requestedBy;
  const who = roles.length === 0 ? 'anybody with access' : roles.join(' or ');
  return quorum > 1 ? `${quorum} different people: ${who}` : who;
}

function escalationTime(at: number): string {
  if (at <= now()) return 'as well now';
  return `as well from ${dateTime(at)} (${relative(at, now())})`;
}

function Votes({ ask: { votes, quorum }, me }: PeopleProps): VNode {
  if (votes === undefined) return <>not known while no worker answers</>;
  if (quorum === 1 && votes.length === 0) return <>nobody has decided</>;
  const need = quorum > 1 ? ` of ${quorum}` : '';
  const approvals = votes.filter(({ decision }) => decision === 'approve').length;
  return (
    <>
      <span class="quorum">{`${approvals}${need} approved`}</span>
      {votes.length > 0 && (
        <ul class="votes">
          {votes.map(({ by, decision, decidedAt }) => (
            <li key={by}>
              <InertLine text={by} />
              {by === me.id && ' (you)'}
              {`: ${words(decision)}, `}
              <time>{dateTime(decidedAt)}</time>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

type Notice = NonNullable<Ask['notices']>[number];

function NoticeLine({ notice }: { readonly notice: Notice }): VNode {
  return (
    <li {...(notice.state === 'given_up' && { class: 'alarm' })}>
      <InertLine text={notice.webhook} max={40} />
      {noticeWords(notice)}
    </li>
  );
}

function noticeWords({ state, tries, nextAt, fault = '' }: Notice): string {
  if (state === 'sent') return ': told';
  const failed = `${plural(tries, 'try', 'tries')}${fault && `, ${fault}`}`;
  if (state === 'given_up') return `: given up after ${failed}`;
  if (tries === 0) return ': not told yet';
  return `: not told yet, ${failed}; again ${dateTime(nextAt ?? now())}`;
}
