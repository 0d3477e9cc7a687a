/**
 * Logging in as a service, with a token whose sha256 stands in a file: whoever reads the file cannot log in.
 * Invariants: comparing takes as long whichever token is right, and whether one is; a token that has left the file opens
 * nothing a second later, and while the file cannot be used no token does.
 */
import { timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
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
/** A file that has said nothing by then counts as none, ms. */
const LOOK_MS_MAX = 5_000;
/** Clocks of files have ticks: within one, two contents can look the same, ms. */
const TICK_MS = 2_000;

/** Errors: InvalidConfig for a file that cannot be used from the beginning. */
export async function serviceLogin(from: TokenFile): Promise<Authenticator> {
  const { file, clock = Date.now } = from;
  const held = new HeldTokens(from, await readMarked(file));
  let lookedAt = clock();
  return async ({ token }) => {
    if (!token.startsWith('hf_service_')) return undefined;
    const now = clock();
    if (now < lookedAt || now - lookedAt >= LOOK_EVERY_MS) {
      lookedAt = now;
      held.look();
    }
    return loginBy(token, { tokens: await held.tokens(), now });
  };
}

interface MarkedTokens {
  readonly tokens: readonly ServiceToken[];
  /** Of the file that they were read from; absent: nobody can say which it was, so it is read once more. */
  readonly mark: string | undefined;
}

class HeldTokens {
  private looking: Promise<void> | undefined;
  private isBroken = false;

  constructor(
    private readonly from: TokenFile,
    private held: MarkedTokens,
  ) {}

  /** One look at a time. */
  look(): void {
    this.looking ??= this.lookOnce().finally(() => (this.looking = undefined));
  }

  async tokens(): Promise<readonly ServiceToken[]> {
    if (this.looking !== undefined && (await isLate(this.looking))) {
      this.close(`The file ${this.from.file} gives no answer.`);
    }
    return this.held.tokens;
  }

  private async lookOnce(): Promise<void> {
    const { file, say } = this.from;
    const now = await markOf(file);
    if (now !== undefined && now === this.held.mark) return;
    try {
      this.held = await readMarked(file);
      if (this.isBroken) say(`The service tokens of ${file} can be used again.`);
      this.isBroken = false;
    } catch (error) {
      this.close(String(error));
    }
  }

  private close(why: string): void {
    this.held = { tokens: [], mark: undefined };
    if (!this.isBroken) this.from.say(`No service token opens the desk: ${why}`);
    this.isBroken = true;
  }
}

async function isLate(looking: Promise<void>): Promise<boolean> {
  const stop = new AbortController();
  const late = sleep(LOOK_MS_MAX, true, { signal: stop.signal }).catch(() => true);
  try {
    return await Promise.race([looking.then(() => false), late]);
  } finally {
    stop.abort();
  }
}

async function readMarked(file: string): Promise<MarkedTokens> {
  const before = await markOf(file);
  const tokens = await readServiceTokens(file);
  return { tokens, mark: (await markOf(file)) === before ? before : undefined };
}

/** Changes with whatever is written to the file or put in its place; undefined: there is none, or its last change is too new. */
async function markOf(file: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs, ctimeNs, ctimeMs } = await stat(file, { bigint: true });
    if (Math.abs(Date.now() - Number(ctimeMs)) < TICK_MS) return undefined;
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
