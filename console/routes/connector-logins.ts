/**
 * Logins of connectors: where a person is sent, and the answer that they come back with.
 * Invariants: the answer is sent by the page or the command of the same person, with their token, so that no link ends a login that
 * somebody else began; a browser comes back to the desk or to the machine that it runs on; no route gives a token of a connector.
 */
import { z } from 'zod';
import type { DeskLogins } from '../../connectors/desk-logins.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Desk } from '../desk.js';
import * as shapes from '../http/connector-shapes.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import { notFound, Problem } from '../http/problem.js';

/** Of the page, which takes the answer out of its address. */
const VIEW = '/connectors';

const params = z.strictObject({ connector: z.string().min(1).max(64) });

const begin = endpoint({
  method: 'post',
  path: '/v1/connectors/{connector}/login',
  name: 'beginConnectorLogin',
  summary: 'Begins a login of a connector: gives the address of its authorization server.',
  access: 'connectors',
  params,
  body: shapes.beginLogin,
  answers: { 200: { description: 'Where to go.', schema: shapes.begunLogin } },
  async handle({ desk, person, params: { connector }, body }) {
    const logins = loginsOf(desk, connector);
    const who = { tenant: person.tenant, by: person.id };
    const redirectUrl = body.redirectUrl ?? redirectUrlOf(desk);
    return {
      status: 200,
      body: await told(() => logins.begin(who, connector, redirectUrl)),
    };
  },
});

const end = endpoint({
  method: 'post',
  path: '/v1/connector-logins',
  name: 'endConnectorLogin',
  summary: 'Ends a login that the same person has begun, with what the authorization server said.',
  access: 'connectors',
  body: shapes.loginAnswer,
  answers: { 200: { description: 'The connector is logged in.', schema: shapes.loggedIn } },
  async handle({ desk, person, body }) {
    const logins = desk.connectors?.logins;
    if (logins === undefined) throw notFound();
    const who = { tenant: person.tenant, by: person.id };
    const ended = await told(() => logins.end(who, body));
    if (ended === undefined) throw notFound();
    return { status: 200, body: ended };
  },
});

const logout = endpoint({
  method: 'post',
  path: '/v1/connectors/{connector}/logout',
  name: 'logOutConnector',
  summary: 'Forgets the login of a connector, and has its server take the tokens back.',
  access: 'connectors',
  params,
  body: z.strictObject({}),
  answers: { 200: { description: 'The connector is logged out.', schema: shapes.loggedOut } },
  async handle({ desk, person, params: { connector } }) {
    const logins = loginsOf(desk, connector);
    const who = { tenant: person.tenant, by: person.id };
    return { status: 200, body: await told(() => logins.logout(who, connector)) };
  },
});

function loginsOf({ connectors }: Desk, connector: string): DeskLogins {
  const logins = connectors?.logins;
  if (logins === undefined || !logins.names.includes(connector)) throw notFound();
  return logins;
}

function redirectUrlOf({ settings: { publicUrl, host, port } }: Desk): string {
  if (publicUrl !== undefined) return `${publicUrl.replace(/\/+$/, '')}${VIEW}`;
  if (port !== 0) return `http://${host}:${port}${VIEW}`;
  throw new Problem(409, {
    code: 'no_address',
    detail: 'The desk does not know the address that people reach it by.',
    hint: 'Set console.publicUrl.',
  });
}

/** Errors of logins have words of this program alone. */
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const { code, message, hint } = error;
    if (code !== 'AuthError' && code !== 'InvalidConfig') throw error;
    throw new Problem(409, {
      code: 'login_failed',
      detail: message,
      ...(hint !== undefined && { hint }),
    });
  }
}

export const connectorLoginEndpoints: readonly Endpoint[] = [begin, end, logout];
