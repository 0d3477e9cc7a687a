/**
 * What a program asks a token with, as the package takes it: for itself, or with an assertion of somebody whom the authorization server
 * trusts: the platform of a workload, or the identity provider of an enterprise.
 * Invariants: assertions and id tokens are read for each request; an id token goes to its declared identity provider alone, and what
 * that gives for it to the declared authorization server alone.
 */
import type { IdentityProvider, MachineAuth } from '../../authoring/connector-auth.js';
import type { Sdk, SdkDpopSession, SdkTokenProvider } from '../sdk.js';
import type { Secrets } from '../secrets.js';
import { provenClient } from './client-proof.js';
import { guardedFetch } from './guarded-fetch.js';
import { Refusal } from './refusal.js';
import { formsOf, readSecret } from './secret-place.js';

const GRANTS = {
  client_credentials: 'client_credentials',
  jwt_bearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
} as const;
const ASSERTION_CHARS_MAX = 16 * 1024;

export interface MachineParts {
  readonly auth: MachineAuth;
  readonly secrets: Secrets;
  /** As the authorization server says it. */
  readonly issuer: string;
  /** What the token is for. */
  readonly resource: string;
  /** Of each request, ms. */
  readonly timeoutMs: number;
  /** Of tokens that are bound to a key. */
  readonly session?: SdkDpopSession | undefined;
}

/** Errors: `Refusal` where something secret cannot be read. */
export async function machineGrant(sdk: Sdk, parts: MachineParts): Promise<SdkTokenProvider> {
  const { auth, secrets, issuer, session } = parts;
  const { grant, clientId } = auth;
  const { information, authenticate } = await provenClient(sdk, { clientId, proof: auth, secrets });
  const unused = (): never => {
    throw new Error('A program has no person who logs in.');
  };
  return {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], grant_types: [GRANTS[grant]] },
    clientInformation: () => ({ ...information, issuer }),
    tokens: () => undefined,
    saveTokens: unused,
    redirectToAuthorization: unused,
    saveCodeVerifier: unused,
    codeVerifier: unused,
    async prepareTokenRequest(scope) {
      const params = new URLSearchParams({ grant_type: GRANTS[grant] });
      if (auth.grant === 'jwt_bearer') {
        const { assertion: place, identity } = auth;
        const assertion =
          identity === undefined
            ? // Platforms write it for every user of its container.
              await readSecret(place ?? { env: '' }, { shared: true })
            : await assertionFrom(sdk, identity, { ...parts, scope });
        secrets.keep(assertion);
        params.set('assertion', assertion);
      }
      if (scope !== undefined) params.set('scope', scope);
      return params;
    },
    ...(authenticate !== undefined && { addClientAuthentication: authenticate }),
    ...(session !== undefined && { dpop: () => session }),
  };
}

/** RFC 8693. Errors: `Refusal`, and those of the package. */
async function assertionFrom(
  sdk: Sdk,
  identity: IdentityProvider,
  parts: MachineParts & { readonly scope: string | undefined },
): Promise<string> {
  const { tokenEndpoint, clientId, clientSecret: place, idToken: tokenPlace } = identity;
  const { secrets, scope, timeoutMs } = parts;
  const clientSecret = place && (await readSecret(place));
  const idToken = await readSecret(tokenPlace);
  const sent = clientSecret === undefined ? [] : formsOf(clientId, clientSecret);
  for (const secret of [idToken, ...sent]) secrets.keep(secret);
  const exchange = sdk.requestJwtAuthorizationGrant({
    tokenEndpoint,
    audience: parts.issuer,
    resource: parts.resource,
    idToken,
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    ...(scope !== undefined && { scope }),
    fetchFn: guardedFetch({ own: [tokenEndpoint] }, timeoutMs),
  });
  const { jwtAuthGrant } = await exchange.catch((error: unknown) => {
    if (error instanceof Refusal || (error as Error).name === 'TimeoutError') throw error;
    // What it says is no text of this program.
    throw new Refusal('its identity provider gives no assertion for the id token');
  });
  if (jwtAuthGrant.length > ASSERTION_CHARS_MAX) {
    throw new Refusal('the assertion of its identity provider is too long');
  }
  return jwtAuthGrant;
}
