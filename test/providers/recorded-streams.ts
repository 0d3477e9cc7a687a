/** Every stream of a model API that was recorded, in three protocols. They lie outside of the repository. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { recordedExchanges } from './cassettes.js';

export type Dialect = 'messages' | 'chat' | 'responses';

export interface RecordedStream {
  readonly name: string;
  readonly dialect: Dialect;
  readonly bytes: Buffer;
}

const MATERIAL = path.join(__dirname, '../../../shared/material');
const FIXTURES = path.join(MATERIAL, 'anthropic-sdk-fixtures/tests');
const CASSETTES = ['test_anthropic', 'test_anthropic_mid_conversation_system', 'test_openai'];

/** A recorded exchange of the fixtures. */
export interface Snapshot {
  readonly name: string;
  readonly request: { readonly url: string; readonly body: unknown };
  readonly response: {
    readonly status_code: number;
    readonly headers: { readonly [name: string]: string };
    readonly body: unknown;
  };
}

/** Of the Messages API only; none when the fixtures are absent. */
export function messagesStreams(): readonly RecordedStream[] {
  const plain = fixtureFiles()
    .filter((name) => name.endsWith('.sse') || /streaming.fixtures.*\.txt$/.test(name))
    .map((name) => ({ name, bytes: readFileSync(path.join(FIXTURES, name)) }));
  const inSnapshots = snapshots().flatMap(({ name, response: { body } }) =>
    typeof body === 'string' && body.includes('message_start')
      ? [{ name, bytes: Buffer.from(body) }]
      : [],
  );
  return [...plain, ...inSnapshots].map((stream) => ({ ...stream, dialect: 'messages' as const }));
}

export function snapshots(): readonly Snapshot[] {
  return fixtureFiles()
    .filter((name) => name.endsWith('.json'))
    .flatMap((file) => {
      const text = readFileSync(path.join(FIXTURES, file), 'utf8');
      const exchanges = JSON.parse(text) as readonly Omit<Snapshot, 'name'>[];
      return exchanges.map((exchange, index) => ({
        ...exchange,
        name: `${path.basename(file, '.json')}#${index}`,
      }));
    });
}

/** Fixtures and cassettes; none when both are absent. */
export function recordedStreams(): readonly RecordedStream[] {
  const inCassettes = CASSETTES.flatMap(recordedExchanges)
    .filter(({ contentType }) => contentType.includes('event-stream'))
    .flatMap(({ name, uri, response }) => {
      const dialect = dialectOf(uri);
      return dialect === undefined ? [] : [{ name, dialect, bytes: Buffer.from(response) }];
    });
  return [...messagesStreams(), ...inCassettes];
}

function dialectOf(uri: string): Dialect | undefined {
  const { pathname } = new URL(uri);
  if (pathname.endsWith('/messages')) return 'messages';
  if (pathname.endsWith('/chat/completions')) return 'chat';
  return pathname.endsWith('/responses') ? 'responses' : undefined;
}

function fixtureFiles(): readonly string[] {
  if (!existsSync(FIXTURES)) return [];
  return readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' }).toSorted();
}
