/**
 * Logging in as a service, with a token whose sha256 stands in a file: whoever reads the file cannot log in.
 * Invariants: comparing takes as long whichever token is right, and whether one is; a token that has left the file opens
 * nothing a second later, and while the file cannot be used no token does.
 */
import { timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';
import { sha256 } from './token-digest.js';
import {
  isName,
  isTenant,
  ROLES_MAX,
  SERVICE_PREFIX,
  type Authenticator,
  type Login,
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

export interface TokenFile {
  readonly file: string;
  /** Hears that the file cannot be used, and that it can be again. */
  readonly say: (line: string) => void;
  readonly clock?: (() => number) | undefined;
}

/** How long nobody looks whether the file has changed, ms. */
const LOOK_EVERY_MS = 1_000;

/** Errors: InvalidConfig for a file that cannot be used from the beginning. */
export async function serviceLogin({
  file,
  say,
  clock = Date.now,
}: TokenFile): Promise<Authenticator> {
  let mark = await markOf(file);
  let tokens = await readServiceTokens(file);
  let lookedAt = clock();
  let looking: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    const now = await markOf(file);
    // Not kept where reading fails: the next look reads once more.
    if (now === mark) return;
    try {
      const isBroken = mark === undefined;
      tokens = await readServiceTokens(file);
      mark = now;
      if (isBroken) say(`The service tokens of ${file} can be used again.`);
    } catch (error) {
      tokens = [];
      if (mark !== undefined) say(`No service token opens the desk: ${String(error)}`);
      mark = undefined;
    }
  };
  return async ({ token }) => {
    if (!token.startsWith('hf_service_')) return undefined;
    const now = clock();
    if (now < lookedAt || now - lookedAt >= LOOK_EVERY_MS) {
      lookedAt = now;
      looking = look();
    }
    await looking;
    return loginBy(token, { tokens, now });
  };
}

/** Changes with whatever is written to the file or put in its place; undefined: there is none. */
async function markOf(file: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  } catch {
    return undefined;
  }
}

interface Known {
  readonly tokens: readonly ServiceToken[];
  readonly now: number;
}

function loginBy(token: string, { tokens, now }: Known): Login {
  const given = sha256(token);
  let found: ServiceToken | undefined;
  for (const one of tokens) {
    if (timingSafeEqual(one.digest, given)) found = one;
  }
  if (found === undefined) return { ok: false, why: 'service token' };
  if (found.expiresAt <= now) return { ok: false, why: 'expired service token' };
  const { person, expiresAt } = found;
  return { ok: true, person, ...(Number.isFinite(expiresAt) && { until: expiresAt }) };
}
