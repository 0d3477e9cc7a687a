/** What answers in place of a model while there is no key: the same conversation each time. */
import type { ModelScript } from '../../index.js';

export const script: ModelScript = ({ assistantMessages, messages }) => {
  if (assistantMessages === 0) {
    return { calls: [{ tool: 'mcp__crm__find_contacts', input: { mail: 'mia@example.com' } }] };
  }
  if (assistantMessages === 1) {
    return { calls: [{ tool: 'mcp__crm__merge_contacts', input: { keep: 'C-1', drop: 'C-2' } }] };
  }
  return JSON.stringify(messages).includes('dropped')
    ? { text: 'C-2 is merged into C-1: both were Mia Adler.' }
    : { text: 'C-1 and C-2 look like the same person. Nothing was merged.' };
};
