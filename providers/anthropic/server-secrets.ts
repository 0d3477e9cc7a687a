/** What opens servers that the vendor is to reach: tokens, and keys in their addresses. */
import { isRecord, listAt, textAt, type JsonRecord } from '../json-record.js';

/** Longest first: one may be part of another. */
export function serverSecrets(options: JsonRecord): readonly string[] {
  const servers = listAt(options, 'mcp_servers').filter(isRecord);
  const secrets = servers.flatMap((server) => [
    textAt(server, 'authorization_token'),
    ...partsOf(textAt(server, 'url')),
  ]);
  return [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .toSorted((a, b) => b.length - a.length);
}

/** Of the path and the query, as they are written and as they are read. */
function partsOf(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const { pathname, search, searchParams } = new URL(address);
  const written = [...pathname.split('/'), ...search.slice(1).split(/[&=]/)];
  return [...written, ...searchParams.values()];
}
