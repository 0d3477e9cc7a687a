/** Connectors: what their servers offer now, how it differs from what was approved, and approving it. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { get, newKey, pathOf, post } from '../data/api.js';
import type { Connector, ConnectorTool } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';
import { Button } from '../parts/button.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { TableHead } from '../parts/table-head.js';
import { Outcome, useAct, type Act } from '../parts/use-act.js';
import { useTitle } from '../parts/use-title.js';

/** Each look asks the servers themselves. */
const LOOK_MS = 30_000;
const HASH_CHARS = 12;
/** More than a server may say in one part: whoever approves has all of it before them. */
const WHOLE = { charsMax: 400_000, linesMax: 400_000 };
const OFFERED: readonly ConnectorTool['state'][] = ['new', 'changed', 'first use'];
const STATE_WORDS: { readonly [state in ConnectorTool['state']]: string } = {
  approved: 'runs get it',
  'first use': 'its first run approves it as it is',
  changed: 'described otherwise than approved: runs do not get it',
  new: 'new: runs do not get it',
  gone: 'its server has it no more',
  unusable: 'no run can have it',
};

export function ConnectorsView(): VNode {
  useTitle('Connectors');
  const [connectors, setConnectors] = useState<readonly Connector[]>();
  const { soon } = usePoll(
    async (signal) => {
      const { items } = await get<{ readonly items: readonly Connector[] }>(
        '/v1/connectors?definitions=true',
        signal,
      );
      setConnectors(items);
    },
    { everyMs: LOOK_MS, name: 'connectors' },
  );
  const { said, fault, act } = useAct(soon);
  useEffect(() => {
    const answer = takeAnswer();
    if (answer !== undefined)
      void act(() => post('/v1/connector-logins', answer, newKey()), 'The connector is logged in.');
    // Once, for the address that the person came back to.
  }, []);
  return (
    <section class="controls-view" aria-label="Connectors">
      <header class="page-head">
        <h1>Connectors</h1>
        <p class="help">
          Words of servers are data from outside. A run gets a tool only as it was approved.
        </p>
      </header>
      <Outcome said={said} fault={fault} />
      {connectors === undefined && <p class="help">Asking the servers …</p>}
      {connectors?.length === 0 && <p class="help">The configuration names no connectors.</p>}
      {connectors?.map((one) => (
        <ConnectorPart key={one.connector} connector={one} act={act} />
      ))}
    </section>
  );
}

/** What an authorization server has sent the person back with; it leaves the address at once. */
function takeAnswer(): { readonly [name: string]: string } | undefined {
  const given = new URLSearchParams(location.search);
  if (!given.has('state')) return undefined;
  history.replaceState(null, '', location.pathname);
  const named = ['state', 'code', 'iss', 'error'].flatMap((name) => {
    const value = given.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  return Object.fromEntries(named);
}

async function logIn(connector: string): Promise<void> {
  const path = pathOf('connectors', connector, 'login');
  const { address } = await post<{ readonly address: string }>(path, {}, newKey());
  location.assign(address);
}

interface ConnectorProps {
  readonly connector: Connector;
  readonly act: Act;
}

function ConnectorPart({ connector: one, act }: ConnectorProps): VNode {
  const { connector, status, era, server = 'a server without a name', message = '' } = one;
  const offered = one.tools.filter(({ state }) => OFFERED.includes(state));
  const approve = (tools: readonly ConnectorTool[]): Promise<boolean> => {
    const body = { tools: tools.map(({ name, hash }) => ({ name, hash })) };
    return act(
      () => post(pathOf('connectors', connector, 'approve'), body, newKey()),
      `Approved: ${tools.map(({ name }) => name).join(', ')}.`,
    );
  };
  return (
    <section aria-label={connector}>
      <h2>{connector}</h2>
      <p>
        {status === 'connected' ? (
          <>
            <InertLine text={server} />
            {`, ${era ?? ''} protocol`}
          </>
        ) : (
          <>
            {'Down: '}
            <InertLine text={message} max={500} />
          </>
        )}
        {one.required && ', required'}
        {one.trusted && ', trusted'}
      </p>
      <LoginPart connector={one} act={act} />
      <ul class="freeze-list" aria-label={`Tools of ${connector}`}>
        {one.tools.map((tool) => (
          <li key={tool.name} class="panel">
            <ToolPart tool={tool} approve={() => approve([tool])} />
          </li>
        ))}
      </ul>
      {offered.length > 1 && (
        <div class="choices">
          <Button label={`Approve all ${offered.length}`} press={() => void approve(offered)} />
        </div>
      )}
    </section>
  );
}

function LoginPart({ connector: { connector, login, hasLogin }, act }: ConnectorProps): VNode {
  const logOut = (): Promise<unknown> =>
    post(pathOf('connectors', connector, 'logout'), {}, newKey());
  return (
    <>
      {login !== undefined && (
        <p>
          {'Needs a login: '}
          <InertLine text={login} max={500} />
        </p>
      )}
      {hasLogin && (
        <div class="choices">
          <Button
            label={`Log ${connector} in`}
            press={() => void act(() => logIn(connector), 'Going to the authorization server …')}
          />
          <Button
            label={`Log ${connector} out`}
            press={() => void act(logOut, `${connector} is logged out.`)}
          />
        </div>
      )}
    </>
  );
}

interface ToolProps {
  readonly tool: ConnectorTool;
  readonly approve: () => Promise<boolean>;
}

function ToolPart({ tool, approve }: ToolProps): VNode {
  const { name, effect, state, problem, hash, changes, wentBack, definition } = tool;
  return (
    <>
      <p>
        <b>
          <InertLine text={name} />
        </b>
        {` (effect ${effect}, hash ${hash.slice(0, HASH_CHARS)}): ${STATE_WORDS[state]}`}
        {problem !== undefined && (
          <>
            {': '}
            <InertLine text={problem} />
          </>
        )}
        {wentBack !== undefined &&
          `. The server went back to a description that was approved before a newer one (${wentBack.newer.hash.slice(0, HASH_CHARS)}): that approval counts again`}
      </p>
      {changes.length > 0 && (
        <table class="changes">
          <TableHead columns={['Part', 'Approved last', 'Now']} />
          <tbody>
            {changes.map(({ field, was, is }) => (
              <tr key={field}>
                <th scope="row">
                  <InertLine text={field} />
                </th>
                <td>{was === undefined ? 'nothing' : <InertBlock text={was} {...WHOLE} />}</td>
                <td>{is === undefined ? 'nothing' : <InertBlock text={is} {...WHOLE} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {definition !== undefined && (
        <details>
          <summary>All that its server says</summary>
          <InertBlock text={JSON.stringify(definition, null, 1)} {...WHOLE} />
        </details>
      )}
      {OFFERED.includes(state) && (
        <div class="choices">
          <Button label={`Approve ${name}`} press={() => void approve()} />
        </div>
      )}
    </>
  );
}
