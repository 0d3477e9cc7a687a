/** What changes with every request, behind all that a vendor's cache keeps, in a prompt of the AI SDK. */
import type { Json } from '../../core/json/json.js';
import { isRecord, listAt, textAt, type JsonRecord } from '../json-record.js';

/**
 * `isMarked`: the cache ends at marks of messages, so the words stand in one of their own. Other vendors may refuse a user
 * right behind a tool, so there the words end the message that is the last one anyway.
 */
export function withLate(
  prompt: readonly JsonRecord[],
  text: string,
  isMarked: boolean,
): readonly JsonRecord[] {
  const last = prompt.at(-1);
  if (text === '' || last === undefined) return prompt;
  const said = { type: 'text', text };
  const role = textAt(last, 'role');
  if (isMarked || (role !== 'user' && role !== 'tool'))
    return [...prompt, { role: 'user', content: [said] }];
  const content = listAt(last, 'content');
  return prompt.with(-1, {
    ...last,
    content: role === 'user' ? [...content, said] : content.with(-1, withWords(content, said)),
  });
}

/** The newest result, in the words of its kind. */
function withWords(results: readonly Json[], said: { readonly text: string }): Json {
  const result = results.at(-1);
  if (!isRecord(result) || !isRecord(result['output'])) return result ?? said;
  const { output } = result;
  const value = output['value'];
  const words =
    typeof value === 'string' ? `${value}\n\n${said.text}` : [...listAt(output, 'value'), said];
  return { ...result, output: { ...output, value: words } };
}
