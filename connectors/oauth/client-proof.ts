/**
 * How a client proves who it is to its authorization server: by its secret, or by what it signs with its private key (RFC 7523).
 * Invariants: a private key is read when it signs, and is neither kept nor sent; each assertion is for the issuer alone and ends soon;
 * no error has a key.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { ClientProof, SecretPlace, SigningAlgorithm } from '../../authoring/connector-auth.js';
import type { Sdk, SdkClientAuthentication } from '../sdk.js';
import type { Secrets } from '../secrets.js';
import { Refusal } from './refusal.js';
import { formsOf, readSecret } from './secret-place.js';

const ASSERTION = 'client_assertion';
const LIFETIME_SECONDS = 60;
const OF_CURVES: { readonly [curve: string]: SigningAlgorithm } = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

export interface ProofParts {
  readonly clientId: string;
  readonly proof: ClientProof;
  /** Told of what is sent, which a server may give back. */
  readonly secrets: Pick<Secrets, 'keep'>;
}

export interface ProvenClient {
  readonly information: { readonly client_id: string; readonly client_secret?: string };
  /** Of a client with a private key; the package proves the others. */
  readonly authenticate?: SdkClientAuthentication;
}

/** Errors: `Refusal` where the secret or the key cannot be read. */
export async function provenClient(sdk: Sdk, parts: ProofParts): Promise<ProvenClient> {
  const { clientId, proof, secrets } = parts;
  const { clientSecret: place, privateKey } = proof;
  if (privateKey !== undefined) {
    const authenticate = await signing(sdk, privateKey, parts);
    return { information: { client_id: clientId }, authenticate };
  }
  if (place === undefined) return { information: { client_id: clientId } };
  const secret = await readSecret(place);
  for (const form of formsOf(clientId, secret)) secrets.keep(form);
  return { information: { client_id: clientId, client_secret: secret } };
}

async function signing(
  sdk: Sdk,
  place: SecretPlace,
  { clientId, proof, secrets }: ProofParts,
): Promise<SdkClientAuthentication> {
  const key = keyIn(await readSecret(place));
  const sign = sdk.createPrivateKeyJwtAuth({
    issuer: clientId,
    subject: clientId,
    privateKey: { ...key.export({ format: 'jwk' }) },
    alg: algorithmOf(key, proof),
    lifetimeSeconds: LIFETIME_SECONDS,
  });
  return async (...request) => {
    const [, params, , metadata] = request;
    // RFC 7523, as amended: the audience is the issuer, and nobody else can use the assertion.
    if (metadata === undefined)
      throw new Refusal('its authorization server does not describe itself');
    await sign(...request);
    params.set('client_id', clientId);
    secrets.keep(params.get(ASSERTION) ?? '');
  };
}

/** Errors: `Refusal`. What the library says of a text that is no key may have parts of it. */
function keyIn(text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    throw new Refusal('its private key is no key in PEM, or wants a password');
  }
}

function algorithmOf(key: KeyObject, { signingAlgorithm }: ClientProof): SigningAlgorithm {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const usual = type === 'rsa' ? 'RS256' : OF_CURVES[details?.namedCurve ?? ''];
  if (usual === undefined) {
    throw new Refusal('its private key is of a kind that signs no assertions: RSA and P-256 do');
  }
  const isOfKind =
    signingAlgorithm === undefined ||
    (type === 'rsa' ? /^[RP]S/.test(signingAlgorithm) : signingAlgorithm === usual);
  if (!isOfKind) throw new Refusal(`its private key does not sign with ${signingAlgorithm}`);
  return signingAlgorithm ?? usual;
}
