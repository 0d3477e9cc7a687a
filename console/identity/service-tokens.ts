/**
 * Logging in as a service, with a token whose sha256 stands in a file: whoever reads the file cannot log in.
 * Invariant: comparing takes as long whichever token is right, and whether one is.
 */
import { timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';
import { sha256 } from './token-digest.js';
import {
  isName,
  isTenant,
  ROLES_MAX,
  SERVICE_PREFIX,
  type Authenticator,
  type Person,
} from './person.js';

const name = z
  .string()
  .transform((text) => text.normalize('NFC'))
  .refine(isName, 'must be a short name');
const tenant = z.string().refine(isTenant, 'must be the name of one tenant');
const schema = z.strictObject({
  v: z.literal(1),
  tokens: z
    .array(
      z.strictObject({
        name,
        tenant: tenant.default('default'),
        roles: z.array(z.string().min(1).max(64)).max(ROLES_MAX),
        sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits'),
        /** ms since epoch. */
        expiresAt: z.number().int().optional(),
      }),
    )
    .max(1_000),
});

interface ServiceToken {
  readonly digest: Buffer;
  readonly person: Person;
  readonly expiresAt: number;
}

/** Errors: InvalidConfig, which quotes nothing of the file. */
export async function readServiceTokens(file: string): Promise<readonly ServiceToken[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new HoldfastError('InvalidConfig', `The file of service tokens ${file} cannot be read.`, {
      hint: 'Correct console.serviceTokens, or leave it out.',
      cause: error,
    });
  }
  const parsed = parse(text);
  if (parsed === undefined) {
    throw new HoldfastError('InvalidConfig', `${file} is no file of service tokens.`, {
      hint: 'See docs/operate/console.md in the package holdfast for its form.',
    });
  }
  return parsed;
}

function parse(text: string): readonly ServiceToken[] | undefined {
  try {
    return schema.parse(JSON.parse(text)).tokens.map((token) => ({
      digest: Buffer.from(token.sha256, 'hex'),
      expiresAt: token.expiresAt ?? Number.POSITIVE_INFINITY,
      person: {
        id: `${SERVICE_PREFIX}${token.name}`,
        name: token.name,
        tenant: token.tenant,
        roles: token.roles,
        via: 'service',
      },
    }));
  } catch {
    return undefined;
  }
}

export function serviceLogin(
  tokens: readonly ServiceToken[],
  clock: () => number = Date.now,
): Authenticator {
  return async ({ token }) => {
    if (!token.startsWith('hf_service_')) return undefined;
    const given = sha256(token);
    let found: ServiceToken | undefined;
    for (const one of tokens) {
      if (timingSafeEqual(one.digest, given)) found = one;
    }
    if (found === undefined) return { ok: false, why: 'service token' };
    if (found.expiresAt <= clock()) return { ok: false, why: 'expired service token' };
    const { person, expiresAt } = found;
    return { ok: true, person, ...(Number.isFinite(expiresAt) && { until: expiresAt }) };
  };
}
