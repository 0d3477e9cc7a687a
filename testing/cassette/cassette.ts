/**
 * A cassette: what a real vendor answered, by request, in a file; tests replay it without the vendor.
 * Invariants:
 *  K1 No header of a request is in the file, and of an answer only those that readers look at.
 *  K2 A file that would hold a secret of this process is refused whole, and the old one stays.
 *  K3 A request is answered by a recording that equals it and was not used yet, or by nothing.
 */
import { readFile } from 'node:fs/promises';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import { rules, type OptionRules } from '../../pure/options.js';
import { holdsSecret, secretIn } from '../../pure/secret-values.js';
import { firstDifference } from '../../replay/first-difference.js';
import { environmentVariables } from '../../worker/config.js';
import { checkFields } from '../agent/check-test.js';
import { parseCassette, type Exchange, type RecordedRequest } from './format.js';
import { checkWritable, writeWhole } from './written.js';

const FILE_BYTES_MAX = 32 * 1024 * 1024;
const EXCHANGES_MAX = 1_000;
const VALUE_SHOWN_CHARS = 120;
const SECRET_CHARS_MIN = 8;
/** What providers look at; of the others some name accounts. */
const HEADERS_KEPT = ['content-type', 'retry-after', 'retry-after-ms', 'x-should-retry'];
const RECORD = 'record';
const HOW = `HOLDFAST_CASSETTES=${RECORD}, with the keys of the vendor.`;

/** Where a cassette lies, and whether it records or plays. */
export interface CassetteOptions {
  /** True: the vendor is asked, and the file written anew. Default: `HOLDFAST_CASSETTES=record`. */
  readonly record?: boolean;
  /** Further texts that must not be in the file, of 8 characters at least; an empty or absent one counts for nothing. Read while it records. */
  readonly secrets?: readonly (string | undefined)[];
}

/** The recorded answers of a vendor, as a file without keys. */
export interface Cassette extends CassetteOptions {
  readonly kind: 'cassette';
  readonly file: string;
}

/** The model of a test: a recording of a real vendor. Errors come when a test opens it. */
export function cassette(file: string, options: CassetteOptions = {}): Cassette {
  return { ...options, kind: 'cassette', file };
}

export function isCassette(value: unknown): value is Cassette {
  return (
    typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'cassette'
  );
}

const CASSETTE: OptionRules<Cassette> = rules('any kind, text! file, flag record, list secrets');
/** Without its variable a secret is empty or absent, as where a cassette plays; a short text would be in every file. */
const RECORDING = {
  secrets: {
    is: `a list of texts of ${SECRET_CHARS_MIN} characters at least, or empty ones`,
    fits: (value: unknown) =>
      (value as readonly unknown[]).every(
        (one = '') => typeof one === 'string' && (one === '' || one.length >= SECRET_CHARS_MIN),
      ),
  },
};

export interface OpenCassette {
  /** Requests go out, and are recorded. */
  readonly records: boolean;
  /** In place of the global `fetch` of a provider; `fail` is told of a request that is not on the cassette. */
  readonly fetchFor: (fail: (error: HoldfastError) => void) => typeof fetch;
  /**
   * Writes what was recorded; `whole` is the conversation, in which no text is cut into pieces as in a stream. Errors:
   * CaptureRefused; ReplayDiffers when recordings are left over.
   */
  finish(whole: string): Promise<void>;
}

/**
 * Errors: InvalidFixture for a field that cannot be used, a file that is not there or is no cassette, and for an unknown HOLDFAST_CASSETTES; FileUnusable
 * for one that a recording could not be written to.
 */
export async function openCassette(given: Cassette): Promise<OpenCassette> {
  checkFields('The cassette', given, CASSETTE);
  const { file, record, secrets = [] } = given;
  const variables = environmentVariables();
  const records = record ?? recordsBy(variables['HOLDFAST_CASSETTES']);
  if (!records) return replaying(file);
  checkFields('The cassette', { secrets }, RECORDING);
  await checkWritable(file);
  return recording(file, {
    variables,
    secrets: secrets.filter((one = '') => one !== '') as readonly string[],
  });
}

/** A mistyped word would play the old file, and look as though the vendor had been asked. */
function recordsBy(said = ''): boolean {
  if (said === RECORD || said === 'replay' || said === '') return said === RECORD;
  throw new HoldfastError(
    'InvalidFixture',
    `HOLDFAST_CASSETTES is ${JSON.stringify(said.slice(0, VALUE_SHOWN_CHARS))}.`,
    { hint: `Say ${RECORD} or replay.` },
  );
}

interface Secrets {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly secrets: readonly string[];
}

function recording(file: string, hidden: Secrets): OpenCassette {
  const exchanges: Promise<Exchange | undefined>[] = [];
  return {
    records: true,
    fetchFor: () => async (target, init) => {
      const request = requestOf(target, init);
      const answer = await fetch(target, init);
      if (exchanges.length >= EXCHANGES_MAX) throw tooLarge(file);
      const { kept, body } = listening(answer);
      const head = headOf(answer);
      exchanges.push(
        kept.then((text) =>
          text === undefined ? undefined : { request, response: { ...head, body: text } },
        ),
      );
      return new Response(body, { status: answer.status, headers: answer.headers });
    },
    async finish(whole) {
      const all = (await Promise.all(exchanges)).flatMap((one) => one ?? []);
      if (all.length === 0) {
        const message = `No vendor has answered, so the cassette ${file} is not written.`;
        throw new HoldfastError('CaptureRefused', message, { hint: `Record it: ${HOW}` });
      }
      const text = `${JSON.stringify({ cassette: 1, exchanges: all }, null, 2)}\n`;
      if (Buffer.byteLength(text) > FILE_BYTES_MAX) throw tooLarge(file);
      const bodies = all.map(({ response }) => response.body);
      refuseSecrets(file, [text, whole, ...bodies].join('\n'), hidden);
      await writeWhole(file, text);
    },
  };
}

/** The answer goes on as it comes; `kept` is the whole of it, or undefined when nobody read it to its end. */
function listening(answer: Response) {
  if (answer.body === null) return { kept: Promise.resolve(''), body: null };
  const [body, copy] = answer.body.tee();
  const kept = new Response(copy).text().catch(() => undefined);
  return { kept, body };
}

function headOf(answer: Response): Pick<Exchange['response'], 'status' | 'headers'> {
  const headers = [...answer.headers].filter(([name]) => HEADERS_KEPT.includes(name));
  return { status: answer.status, headers: Object.fromEntries(headers) };
}

async function replaying(file: string): Promise<OpenCassette> {
  const { exchanges } = parseCassette(file, await textOf(file));
  const unused = [...exchanges];
  return {
    records: false,
    fetchFor: (fail) => async (target, init) => {
      const request = requestOf(target, init);
      const index = unused.findIndex((one) => isSame(one.request, request));
      const [found] = index < 0 ? [] : unused.splice(index, 1);
      if (found === undefined) {
        const error = notRecorded(file, request, { unused, count: exchanges.length });
        fail(error);
        throw error;
      }
      const { status, headers, body } = found.response;
      return new Response(body === '' ? null : body, { status, headers });
    },
    async finish() {
      if (unused.length === 0) return;
      throw new HoldfastError(
        'ReplayDiffers',
        `Of the ${exchanges.length} requests on the cassette ${file} the run has not made the last ${unused.length}.`,
        { hint: recordHint(file) },
      );
    },
  };
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new HoldfastError('InvalidFixture', `There is no cassette ${file} that can be read.`, {
      hint: `Record it: ${HOW}`,
      cause,
    });
  }
}

/** Where a vendor is reached and who asks is no part of a request. */
function requestOf(target: string | URL | Request, init: RequestInit | undefined): RecordedRequest {
  const url = new URL(target instanceof Request ? target.url : target);
  const { body } = init ?? {};
  return {
    method: init?.method ?? 'GET',
    path: url.pathname,
    body: typeof body === 'string' ? jsonOf(body) : null,
  };
}

function isSame(one: RecordedRequest, other: RecordedRequest): boolean {
  return canonicalJson({ ...one }) === canonicalJson({ ...other });
}

interface Left {
  readonly unused: readonly Exchange[];
  readonly count: number;
}

function notRecorded(
  file: string,
  request: RecordedRequest,
  { unused, count }: Left,
): HoldfastError {
  const [next] = unused;
  const number = count - unused.length + 1;
  const difference = next && firstDifference({ ...next.request }, { ...request });
  const why =
    difference === undefined
      ? `all ${count} recordings are used up`
      : `${difference.path} was ${shown(difference.recorded)} and is ${shown(difference.replayed)}`;
  return new HoldfastError(
    'ReplayDiffers',
    `Request ${number} is not on the cassette ${file}: ${why}.`,
    { hint: recordHint(file), ...(difference !== undefined && { details: { ...difference } }) },
  );
}

function shown(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length <= VALUE_SHOWN_CHARS ? text : `${text.slice(0, VALUE_SHOWN_CHARS)}…`;
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function refuseSecrets(file: string, text: string, { variables, secrets }: Secrets): void {
  const variable = secretIn(text, variables);
  const other = secrets.find((one) => holdsSecret(text, one));
  if (variable === undefined && other === undefined) return;
  const what = variable === undefined ? 'one of its `secrets`' : `the value of ${variable}`;
  throw new HoldfastError('CaptureRefused', `The cassette ${file} would hold ${what}.`, {
    hint: 'Keep the secret out of prompts and results of tools, and change it: the vendor has seen it.',
  });
}

function tooLarge(file: string): HoldfastError {
  return new HoldfastError(
    'CaptureRefused',
    `The cassette ${file} takes more than ${EXCHANGES_MAX} requests or ${FILE_BYTES_MAX} bytes.`,
    { hint: 'Record a shorter run.' },
  );
}

function recordHint(file: string): string {
  return `If the change is meant, record ${file} again: ${HOW}`;
}
