/**
 * Connectors over the approval desk, for people without the store: logins whose browser comes back to this machine, and approvals.
 * Invariants: the answer of a login goes to the desk that began it, with the token of whoever began it; an address is shown only
 * when it is one that a browser may be sent to; tools are approved by the hash that the desk has shown.
 */
import { z } from 'zod';
import { isSafeAddress } from '../../authoring/connector-auth.js';
import type { LoggedIn, LoggedOut } from '../../connectors/logins.js';
import * as shapes from '../../console/http/connector-shapes.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Answer, DeskApi } from '../desk/desk-api.js';
import { usage } from '../usage.js';
import type { Logins } from './logins-here.js';

/** As long as a desk keeps a login that was begun. */
const LONGEST = '10m';
/** Of one request. */
const APPROVED_AT_ONCE_MAX = 200;

export function loginsAtDesk(api: DeskApi, connector: string): Logins {
  const path = pathOf(connector);
  return {
    connector,
    longest: LONGEST,
    async begin(redirectUrl) {
      const told = await post(api, { connector, path: `${path}/login`, body: { redirectUrl } });
      const { address, issuer } = read(shapes.begunLogin, told);
      const state =
        URL.canParse(address) &&
        isSafeAddress(address) &&
        new URL(address).searchParams.get('state');
      if (typeof state !== 'string' || state === '') throw odd();
      return {
        address,
        issuer,
        isOwn: (answer) => answer.state === state,
        async end({ code, iss, error }) {
          const body = {
            state,
            ...(code !== undefined && { code }),
            ...(iss !== undefined && { iss }),
            ...(error !== undefined && { error }),
          };
          const ended = await post(api, { connector, path: '/v1/connector-logins', body });
          return read(shapes.loggedIn, ended) as LoggedIn;
        },
      };
    },
    async logout() {
      const told = await post(api, { connector, path: `${path}/logout`, body: {} });
      return read(shapes.loggedOut, told) as LoggedOut;
    },
  };
}

export interface ApprovedTool {
  readonly name: string;
  readonly tool: string;
  readonly hash: string;
}

const listed = z.object({ items: z.array(shapes.connector) });

/** Without names: all that runs could have. Errors: Usage; DecisionRejected for a tool that its server has changed meanwhile. */
export async function approveAtDesk(
  api: DeskApi,
  connector: string,
  names: readonly string[],
): Promise<readonly ApprovedTool[]> {
  const { items } = read(listed, await api.get('/v1/connectors'));
  const found = items.find((one) => one.connector === connector);
  if (found === undefined) throw unknown(connector);
  if (found.status === 'failed')
    throw usage(`${connector} is down: ${found.message ?? ''}`, 'Try again when it answers.');
  const offered = found.tools.filter(
    ({ state, problem }) => problem === undefined && state !== 'gone' && state !== 'unusable',
  );
  const isNamed = ({ name, tool }: ApprovedTool, wanted: string): boolean =>
    name === wanted || tool === wanted;
  const missing = names.find((wanted) => !offered.some((one) => isNamed(one, wanted)));
  if (missing !== undefined) throw noSuchTool(connector, missing, offered);
  const chosen = offered
    .filter((one) => names.length === 0 || names.some((wanted) => isNamed(one, wanted)))
    .map(({ name, tool, hash }) => ({ name, tool, hash }));
  for (let from = 0; from < chosen.length; from += APPROVED_AT_ONCE_MAX) {
    const tools = chosen
      .slice(from, from + APPROVED_AT_ONCE_MAX)
      .map(({ name, hash }) => ({ name, hash }));
    const path = `${pathOf(connector)}/approve`;
    await post(api, { connector, path, body: { tools } }).catch((error: unknown) => {
      throw approvedBefore(error, chosen.slice(0, from));
    });
  }
  return chosen;
}

/** The desk speaks of one request, and knows nothing of those before it. */
function approvedBefore(error: unknown, approved: readonly ApprovedTool[]): unknown {
  if (approved.length === 0 || !(error instanceof HoldfastError)) return error;
  const { code, message, hint = '', details } = error;
  return new HoldfastError(
    code,
    `${approved.length} tools were approved. The next request was refused: ${message}`,
    {
      hint: `${hint} Those that were approved stay so; approve the others by name.`.trim(),
      details: { ...details, approved: approved.map(({ tool }) => tool) },
      cause: error,
    },
  );
}

/** Errors: Usage. */
export function noSuchTool(
  connector: string,
  wanted: string,
  offered: readonly { readonly tool: string }[],
): HoldfastError {
  const names = offered.map(({ tool }) => tool).join(', ');
  return usage(
    `The server of ${connector} has no usable tool ${wanted.slice(0, 100)}.`,
    `The tools are ${names.slice(0, 500)}.`,
  );
}

function pathOf(connector: string): string {
  return `/v1/connectors/${encodeURIComponent(connector)}`;
}

interface Posted {
  readonly connector: string;
  readonly path: string;
  readonly body: object;
}

/** The desk says the same of a connector that is none and of one without a login. */
async function post(api: DeskApi, { connector, path, body }: Posted): Promise<Answer> {
  try {
    return await api.post(path, body);
  } catch (error) {
    const isUnknown = error instanceof HoldfastError && error.details?.['status'] === 404;
    throw isUnknown ? unknown(connector) : error;
  }
}

function unknown(connector: string): HoldfastError {
  return new HoldfastError(
    'InvalidRequest',
    `The desk has no connector ${JSON.stringify(connector.slice(0, 60))}, or no such login of it.`,
    { hint: 'Look at the page “Connectors” of the desk, or begin the login anew.' },
  );
}

function read<Schema extends z.ZodType>(schema: Schema, answer: Answer): z.output<Schema> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw odd();
}

function odd(): HoldfastError {
  return new HoldfastError('ServerUnavailable', 'The approval desk gave an answer that is none.', {
    hint: 'Look whether --desk names an approval desk of this release.',
  });
}
