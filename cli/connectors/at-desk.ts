/**
 * Connectors over the approval desk, for people without the store: what servers offer, approvals, and logins
 * whose browser comes back to this machine.
 * Invariants: the answer of a login goes to the desk that began it, with the token of whoever began it; an address is shown only
 * when it is one that a browser may be sent to; tools are approved by the hash that the desk has shown.
 */
import { z } from 'zod';
import { isSafeAddress } from '../../authoring/connector-auth.js';
import type { ShownTool } from '../../connectors/approve-tools.js';
import type { LoggedIn, LoggedOut } from '../../connectors/logins.js';
import * as shapes from '../../console/http/connector-shapes.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Answer, DeskApi } from '../desk/desk-api.js';
import { plural } from '../../pure/plural.js';
import { queryText } from '../desk/paging.js';
import type { Logins } from './logins-here.js';
import type { OfferedConnector, Offers } from './offered.js';

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

const listed = z.object({ items: z.array(shapes.connector) });

/** Of the connectors that the desk's configuration has. */
export function offersAtDesk(api: DeskApi): Offers {
  return {
    async look(connector, definitions) {
      const wanted = {
        ...(connector !== undefined && { connector }),
        ...(definitions && { definitions: 'true' }),
      };
      const told = await knowing(connector, () => api.get(`/v1/connectors?${queryText(wanted)}`));
      return read(listed, told).items as readonly OfferedConnector[];
    },
    async approve(connector, shown) {
      const path = `${pathOf(connector)}/approve`;
      for (let from = 0; from < shown.length; from += APPROVED_AT_ONCE_MAX) {
        const tools = shown
          .slice(from, from + APPROVED_AT_ONCE_MAX)
          .map(({ name, hash }) => ({ name, hash }));
        await post(api, { connector, path, body: { tools } }).catch((error: unknown) => {
          throw approvedBefore(error, shown.slice(0, from));
        });
      }
    },
  };
}

/** The desk speaks of one request, and knows nothing of those before it. */
function approvedBefore(error: unknown, approved: readonly ShownTool[]): unknown {
  if (approved.length === 0 || !(error instanceof HoldfastError)) return error;
  const { code, message, hint = '', details } = error;
  return new HoldfastError(
    code,
    `${plural(approved.length, 'tool was', 'tools were')} approved. The next request was refused: ${message}`,
    {
      hint: `${hint} Those that were approved stay so; approve the others by name.`.trim(),
      details: { ...details, approved: approved.map(({ name }) => name) },
      cause: error,
    },
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

async function post(api: DeskApi, { connector, path, body }: Posted): Promise<Answer> {
  return knowing(connector, () => api.post(path, body));
}

/** The desk says the same of a connector that is none and of one without a login. */
async function knowing(connector: string | undefined, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const isUnknown = error instanceof HoldfastError && error.details?.['status'] === 404;
    throw isUnknown && connector !== undefined ? unknown(connector) : error;
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
