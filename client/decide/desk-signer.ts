/**
 * The desk's key: signs what people decide and say to goals, and heads of the audit trail. The private half is in one file of
 * the desk, for its user alone; nothing else ever reads it.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { headText, type AuditHead, type SignedHead } from '../../pure/audit.js';
import type { Decision } from '../../core/state/ask.js';
import {
  goalStatementOf,
  goalStatementText,
  statementOf,
  statementText,
  type GoalIdentity,
  type StatementPlace,
} from '../../core/ask/statement.js';
import type { GoalMessage } from '../../core/state/goal/message.js';
import { type DeskKey } from '../../core/state/statement.js';
import { HoldfastError } from '../../core/state/errors.js';

export interface DeskSigner {
  readonly key: DeskKey;
  /** The decision with its key and signature; it must have a nonce. */
  signDecision(place: StatementPlace, decision: Decision): Decision;
  /** What a person says to a goal, with its key and signature. */
  signGoalMessage(goal: GoalIdentity, message: GoalMessage): GoalMessage;
  signHead(head: AuditHead, at: number): SignedHead;
}

const RAW_KEY_BYTES = 32;
const KID_CHARS = 16;
const OTHERS_MAY_READ = 0o077;
const FULL = /^(?:ENOSPC|EDQUOT)$/;

const keyFile = z.strictObject({
  v: z.literal(1),
  kid: z.string().min(1).max(64),
  privateKey: z.string().min(1).max(4_096),
});

/** Makes a new key and writes it for this user alone. Errors: `InvalidConfig` when the file exists, `FileUnusable` on a full disk. */
export async function createDeskKey(file: string): Promise<DeskSigner> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const signer = signerOf(privateKey);
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' });
  const text = JSON.stringify({ v: 1, kid: signer.key.kid, privateKey: pem });
  try {
    await writeFile(file, `${text}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException;
    // The file of a write that failed is empty, and would be in the way of the next attempt.
    if (syscall === 'write') await rm(file, { force: true });
    if (FULL.test(code)) {
      throw new HoldfastError('FileUnusable', `The disk has no room left for the key ${file}.`, {
        hint: 'Free disk space, then try again.',
        cause: error,
      });
    }
    if (code === 'EEXIST' && (await isKey(file))) {
      throw new HoldfastError('InvalidConfig', `There is a key in ${file} already.`, {
        hint: 'Go on with that key, replace it with `holdfast keys rotate`, or name another file.',
        cause: error,
      });
    }
    throw new HoldfastError('InvalidConfig', `The key could not be written to ${file}.`, {
      hint: 'Name a file that does not exist yet, in a folder that this user may write.',
      cause: error,
    });
  }
  return signer;
}

function isKey(file: string): Promise<boolean> {
  return readDeskKey(file).then(
    () => true,
    () => false,
  );
}

/** Reads a key that {@link createDeskKey} wrote. Errors: `InvalidConfig`. */
export async function readDeskKey(file: string): Promise<DeskSigner> {
  const text = await readPrivately(file);
  try {
    return signerOf(createPrivateKey(keyFile.parse(JSON.parse(text)).privateKey));
  } catch {
    // Not the error's own words: they may quote the key.
    throw new HoldfastError('InvalidConfig', `${file} holds no key of a desk.`, {
      hint: 'Make one with `holdfast keys create`.',
    });
  }
}

async function readPrivately(file: string): Promise<string> {
  let mode: number;
  let text: string;
  try {
    ({ mode } = await stat(file));
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new HoldfastError('InvalidConfig', `The desk's key ${file} cannot be read.`, {
      hint: 'Make one with `holdfast keys create`.',
      cause: error,
    });
  }
  if (process.platform !== 'win32' && (mode & OTHERS_MAY_READ) !== 0) {
    throw new HoldfastError('InvalidConfig', `Others may read the desk's key ${file}.`, {
      hint: `Make it yours alone (chmod 600), and revoke it if somebody may have read it.`,
    });
  }
  return text;
}

export function signerOf(privateKey: KeyObject): DeskSigner {
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const raw = spki.subarray(spki.length - RAW_KEY_BYTES);
  const kid = `dk_${createHash('sha256').update(raw).digest('hex').slice(0, KID_CHARS)}`;
  const signed = (text: string): string =>
    sign(null, Buffer.from(text), privateKey).toString('hex');
  return {
    key: { kid, key: raw.toString('hex') },
    signDecision(place, decision) {
      const named = { ...decision, kid };
      const statement = statementOf(place, named);
      if (statement === undefined) {
        throw new HoldfastError('Internal', 'A decision without a nonce cannot be signed.');
      }
      return { ...named, proof: signed(statementText(statement)) };
    },
    signGoalMessage(goal, message) {
      const named = { ...message, kid };
      const statement = goalStatementOf(goal, named);
      if (statement === undefined) throw new HoldfastError('Internal', 'The key has no name.');
      return { ...named, proof: signed(goalStatementText(statement)) };
    },
    signHead(head, at) {
      const said = { v: 1, ...head, at, kid } as const;
      return { ...said, signature: signed(headText(said)) };
    },
  };
}
