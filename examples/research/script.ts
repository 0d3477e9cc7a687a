/** What answers in place of a model while there is no key: the same conversation each time. */
import type { ModelScript, ScriptedQuestion, ScriptedWords } from '../../index.js';

const READERS = ['N-1', 'N-2', 'N-3'];
const FINDINGS: Readonly<Record<string, string>> = {
  'N-1': 'N-1: stoneware keeps tea warm for 48 minutes, and rarely breaks.',
  'N-2': 'N-2: glass keeps tea warm for 25 minutes, and breaks often.',
  'N-3': 'N-3: cast iron keeps tea warm for 75 minutes, and may rust.',
};
const ANSWER =
  'Cast iron keeps tea warm the longest, 75 minutes against 48 and 25 (N-3, N-1, N-2). Cast iron does not break, but one in ten rusts.';

export const script: ModelScript = (question) => {
  if (question.system.includes('Read the note')) return reading(question);
  if (question.system.includes('which finding decides')) {
    return { text: 'N-3 decides: the longest time. Rust speaks against cast iron.' };
  }
  return researching(question);
};

function researching({ assistantMessages }: ScriptedQuestion): ScriptedWords {
  if (assistantMessages === 0)
    return { calls: [{ tool: 'search_notes', input: { words: 'tea' } }] };
  if (assistantMessages === 1)
    return { calls: READERS.map((id) => asked('reader', `Read ${id}.`)) };
  if (assistantMessages === 2) {
    return { calls: [asked('critic', Object.values(FINDINGS).join('\n'))] };
  }
  return { text: ANSWER };
}

function reading({ assistantMessages, messages }: ScriptedQuestion): ScriptedWords {
  const id = /N-\d/.exec(JSON.stringify(messages))?.[0] ?? 'N-1';
  if (assistantMessages === 0) return { calls: [{ tool: 'read_note', input: { id } }] };
  return { text: FINDINGS[id] ?? 'The note answers nothing.' };
}

const asked = (name: string, prompt: string) => ({ tool: 'agent', input: { name, prompt } });
