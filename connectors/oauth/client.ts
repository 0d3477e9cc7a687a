/**
 * Who this program is to an authorization server at which people log in: a client that the server knows, one with a metadata document,
 * or one that registers itself.
 */
import type { AuthorizationCode } from '../../authoring/connector-auth.js';
import type { Fetch } from '../bounded-fetch.js';
import type { Sdk, SdkServerMetadata } from '../sdk.js';
import type { Secrets } from '../secrets.js';
import { provenClient, type ProvenClient } from './client-proof.js';
import type { Grant, OAuthClient } from './grant.js';
import { Refusal } from './refusal.js';

interface ClientWho {
  readonly client: OAuthClient;
  readonly auth: AuthorizationCode;
  readonly secrets: Pick<Secrets, 'keep'>;
}

/** As requests for tokens have it. Errors: `Refusal` where its secret or key cannot be read. */
export async function clientFor(
  sdk: Sdk,
  { client, auth, secrets }: ClientWho,
): Promise<ProvenClient> {
  const { id, origin, secret, method } = client;
  if (origin === 'configured') return provenClient(sdk, { clientId: id, proof: auth, secrets });
  if (secret !== undefined) secrets.keep(secret);
  const information = {
    client_id: id,
    ...(secret !== undefined && { client_secret: secret }),
    ...(method !== undefined && { token_endpoint_auth_method: method }),
  };
  return { information };
}

export interface ClientWish {
  readonly auth: AuthorizationCode;
  readonly metadata: SdkServerMetadata;
  readonly authorizationServerUrl: string;
  readonly redirectUrl: string;
  readonly former?: Grant;
  readonly scope?: string;
  readonly fetchFn: Fetch;
}

export async function clientOf(sdk: Sdk, wish: ClientWish): Promise<OAuthClient> {
  const { auth, metadata, authorizationServerUrl, redirectUrl, former, scope, fetchFn } = wish;
  const { clientId, clientMetadataUrl } = auth;
  if (clientId !== undefined) return { id: clientId, origin: 'configured' };
  const takesDocuments = metadata.client_id_metadata_document_supported === true;
  if (clientMetadataUrl !== undefined && takesDocuments) {
    return { id: clientMetadataUrl, origin: 'document' };
  }
  if (former?.client.origin === 'registered' && former.redirectUrl === redirectUrl) {
    return former.client;
  }
  if (metadata.registration_endpoint === undefined) {
    throw new Refusal(
      'its authorization server registers no programs, so that the configuration has to name a clientId',
    );
  }
  const clientMetadata = sdk.resolveClientMetadata({
    redirectUrl,
    clientMetadata: {
      client_name: 'Holdfast',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  });
  const registered = await sdk.registerClient(authorizationServerUrl, {
    metadata,
    clientMetadata,
    ...(scope !== undefined && { scope }),
    fetchFn,
  });
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = registered;
  return {
    id,
    origin: 'registered',
    ...(secret !== undefined && { secret }),
    ...(method !== undefined && { method }),
  };
}
