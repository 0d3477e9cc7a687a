import fc from 'fast-check';
import { repairHistory, UNRECORDED, type Message } from '../../../pure/session-repair.js';
import type { StoredBlock } from '../../../core/state/transcript.js';

let nextId = 0;
const message = (role: Message['role'], blocks: readonly StoredBlock[]): Message => {
  nextId += 1;
  return { v: 1, role, messageId: `m${nextId}`, blocks };
};
const text = (said: string): StoredBlock => ({ type: 'text', text: said });
const use = (id: string): StoredBlock => ({ type: 'tool_use', id, tool: 'look', args: {} });
const result = (id: string, content = 'seen'): StoredBlock => ({
  type: 'tool_result',
  id,
  isError: false,
  text: content,
});
const user = (...blocks: StoredBlock[]): Message => message('user', blocks);
const assistant = (...blocks: StoredBlock[]): Message => message('assistant', blocks);
const repaired = (...history: Message[]) => repairHistory(history, (n) => `added-${n}`);

describe('a stored conversation', () => {
  it('comes back as it is when it is sound', () => {
    const history = [user(text('a')), assistant(use('1')), user(result('1'), text('and?'))];
    const { messages, repairs } = repairHistory(history, String);
    expect(repairs).toEqual([]);
    messages.forEach((one, index) => expect(one).toBe(history[index]));
  });

  it('gets a result that claims nothing for each call that has none, marked as ours', () => {
    const { messages, repairs } = repaired(user(text('a')), assistant(use('1'), use('2')));
    expect(messages.at(-1)).toMatchObject({
      role: 'user',
      messageId: 'added-0',
      flags: ['synthetic'],
      blocks: ['1', '2'].map((id) => ({
        type: 'tool_result',
        id,
        isError: true,
        text: UNRECORDED,
      })),
    });
    expect(repairs).toEqual([
      'added a result for the call 1, which had none',
      'added a result for the call 2, which had none',
    ]);
  });

  it('keeps the results that are there and what a person said beside them', () => {
    const { messages } = repaired(
      assistant(use('1'), use('2')),
      user(text('hm'), result('2', 'two'), result('ghost'), result('2', 'again')),
    );
    const blocks = messages.at(-1)?.blocks;
    expect(blocks).toMatchObject([
      { id: '1', text: UNRECORDED },
      { id: '2', text: 'two' },
      text('hm'),
    ]);
  });

  it('loses a message of which nothing is left, and one in which nothing was said', () => {
    const { messages, repairs } = repaired(user(text('a')), user(result('ghost')), assistant());
    expect(messages).toHaveLength(1);
    expect(repairs).toHaveLength(2);
  });

  const anyBlock = fc.oneof(
    fc.constantFrom('1', '2', '3').map(use),
    fc.constantFrom('1', '2', '3').map((id) => result(id)),
    fc.constant(text('words')),
  );
  const anyMessage = fc
    .tuple(
      fc.constantFrom('user' as const, 'assistant' as const),
      fc.array(anyBlock, { maxLength: 4 }),
    )
    .map(([role, blocks]) => {
      const kind = role === 'user' ? 'tool_use' : 'tool_result';
      const ids = new Set<string>();
      const own = blocks.filter((block) => {
        const repeated = block.type === 'tool_use' && ids.has(block.id);
        if (block.type === 'tool_use') ids.add(block.id);
        return block.type !== kind && !repeated;
      });
      return message(role, own);
    });

  it('is sound after any repair, and is not repaired twice', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), (history) => {
        const { messages } = repairHistory(history, (n) => `added-${n}`);
        expect(defectOf(messages)).toBeUndefined();
        expect(repairHistory(messages, String).repairs).toEqual([]);
        // Nothing that was said is lost.
        expect(wordsIn(messages)).toBe(wordsIn(history));
      }),
    );
  });
});

function wordsIn(messages: readonly Message[]): number {
  return messages.flatMap(({ blocks }) => blocks).filter(({ type }) => type === 'text').length;
}

function defectOf(messages: readonly Message[]): string | undefined {
  return messages
    .map((one, index) => {
      const uses = idsOf(one, 'tool_use');
      const next = messages[index + 1];
      const results = next === undefined ? '' : idsOf(next, 'tool_result');
      return one.role === 'assistant' && uses !== results
        ? `${index}: ${uses} != ${results}`
        : undefined;
    })
    .find((defect) => defect !== undefined);
}

function idsOf({ blocks }: Message, type: 'tool_use' | 'tool_result'): string {
  return blocks.flatMap((block) => (block.type === type ? [block.id] : [])).join(' ');
}
