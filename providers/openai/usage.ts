/** OpenAI counts cached tokens among the input, Holdfast beside it. */
import type { Usage } from '../../core/state/model.js';
import { recordAt, tokensAt, type JsonRecord } from '../json-record.js';

/** Of either protocol; gateways report the cache in the words of its vendor. */
export function usageOfReport(report: JsonRecord): Usage {
  const prompt = firstOf(report, ['prompt_tokens', 'input_tokens']);
  const completion = firstOf(report, ['completion_tokens', 'output_tokens']);
  const details = [
    recordAt(report, 'prompt_tokens_details'),
    recordAt(report, 'input_tokens_details'),
    report,
  ];
  const cacheRead = Math.min(
    prompt,
    largest(details, ['cached_tokens', 'cache_read_input_tokens']),
  );
  const cacheWrite = Math.min(
    prompt - cacheRead,
    largest(details, [
      'cache_write_tokens',
      'cache_creation_tokens',
      'cache_creation_input_tokens',
    ]),
  );
  return {
    input: prompt - cacheRead - cacheWrite,
    // Some gateways leave reasoning out of the output and have it only in the total.
    output: Math.max(completion, tokensAt(report, 'total_tokens') - prompt),
    cacheRead,
    cacheWrite,
  };
}

function firstOf(report: JsonRecord, keys: readonly string[]): number {
  return keys.map((key) => tokensAt(report, key)).find((tokens) => tokens > 0) ?? 0;
}

function largest(records: readonly JsonRecord[], keys: readonly string[]): number {
  return Math.max(...records.flatMap((record) => keys.map((key) => tokensAt(record, key))));
}
