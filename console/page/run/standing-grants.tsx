/** Approvals of a run that cover calls which are still to come. */
import type { VNode } from 'preact';
import type { StandingGrant } from '../data/api-types.js';
import { now } from '../data/connection.js';
import { dateTime, plural, relative } from '../parts/format.js';
import { ConditionList } from '../parts/grant-words.js';
import { InertLine } from '../parts/inert.js';
import { inboxPath } from '../parts/paths.js';

export interface StandingGrantsProps {
  readonly grants: readonly StandingGrant[];
}

export function StandingGrants({ grants }: StandingGrantsProps): VNode {
  // The run looks at its clock when something happens; time goes on.
  const standing = grants.filter(({ expiresAt }) => expiresAt >= now());
  return (
    <section class="grants" aria-label="Standing grants" hidden={standing.length === 0}>
      <h2>Goes ahead without being asked</h2>
      {standing.map((grant) => (
        <Grant key={grant.id} grant={grant} />
      ))}
    </section>
  );
}

function Grant({ grant }: { readonly grant: StandingGrant }): VNode {
  const { id, tool, when, usesLeft, expiresAt, by } = grant;
  const until = `until ${dateTime(expiresAt)} (${relative(expiresAt, now())})`;
  return (
    <div class="notice grant-shown">
      <p>
        <b>
          <InertLine text={tool} max={100} />
        </b>
        {`: ${plural(usesLeft, 'more call')}, ${until}, whenever all of this holds:`}
      </p>
      <ConditionList when={when} />
      <p class="help">
        Given by <InertLine text={by.join(', ')} /> with <a href={inboxPath(id)}>this approval</a>.
      </p>
    </div>
  );
}
