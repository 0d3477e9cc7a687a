/** HTTP exchanges with model APIs that were recorded. They lie outside of the repository. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { Json } from '../../core/json/json.js';

export type Fields = { readonly [key: string]: Json };

export interface Exchange {
  /** The recording and the position in it. */
  readonly name: string;
  readonly uri: string;
  readonly request: Fields;
  readonly status: number;
  readonly contentType: string;
  /** The body as it came: JSON, or server-sent events. */
  readonly response: string;
}

interface RecordedExchange {
  readonly request: {
    readonly method: string;
    readonly uri: string;
    readonly parsed_body?: Fields;
  };
  readonly response: {
    readonly status: { readonly code: number };
    readonly headers: { readonly [name: string]: readonly string[] };
    readonly parsed_body?: Json;
    readonly body?: { readonly string?: unknown };
  };
}

const ROOT = path.join(
  __dirname,
  '../../../shared/material/pydantic-ai-cassettes/tests/models/cassettes',
);

/** Every exchange of a folder that sent JSON; none when the recordings are absent. */
export function recordedExchanges(folder: string): readonly Exchange[] {
  const place = path.join(ROOT, folder);
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .toSorted()
    .flatMap((file) => exchangesOf(path.join(place, file)));
}

function exchangesOf(file: string): readonly Exchange[] {
  const { interactions } = parse(readFileSync(file, 'utf8')) as {
    readonly interactions: readonly RecordedExchange[];
  };
  return interactions.flatMap(({ request, response }, index): Exchange[] => {
    if (request.parsed_body === undefined) return [];
    const text = response.body?.string;
    return [
      {
        name: `${path.basename(file, '.yaml')}#${index}`,
        uri: request.uri,
        request: request.parsed_body,
        status: response.status.code,
        contentType: response.headers['content-type']?.[0] ?? '',
        response: typeof text === 'string' ? text : JSON.stringify(response.parsed_body),
      },
    ];
  });
}

/** For a test file whose recordings are absent: says so, and fails where they must be there. */
export function sayAbsent(what: string): void {
  const absent = `The recorded exchanges (shared/material/${what}) are absent`;
  if (process.env['CI'] === 'true') throw new Error(`${absent}.`);
  process.stderr.write(`${absent}: nothing was checked against them.\n`);
}
