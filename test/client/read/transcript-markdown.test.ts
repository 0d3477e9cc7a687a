import { transcriptMarkdown } from '../../../client/read/transcript-markdown.js';
import type { Transcript, TranscriptMessage } from '../../../client/read/transcript.js';

const transcript = (...messages: TranscriptMessage[]): Transcript => ({
  id: 's1',
  kind: 'session',
  agent: 'helper',
  title: 'Where is O-17?',
  updatedAt: 0,
  messages,
});

describe('a conversation as Markdown', () => {
  it('tells who said what, what was called and what came back', () => {
    const text = transcriptMarkdown(
      transcript(
        { messageId: 'r:m0', role: 'user', text: 'Look.' },
        {
          messageId: 'r:m1',
          role: 'assistant',
          text: 'I look.',
          calls: [{ id: 'c1', tool: 'orders.read', args: { orderId: 'O-17' } }],
        },
        {
          messageId: 'r:m2',
          role: 'user',
          results: [{ id: 'c1', isError: true, text: 'gone' }],
          flags: ['synthetic'],
        },
      ),
    );
    expect(text).toBe(`# Where is O-17?

Session s1 · agent helper · 3 messages · 1970-01-01T00:00:00.000Z

## User

r:m0

\`\`\`text
Look.
\`\`\`

## Assistant

r:m1

\`\`\`text
I look.
\`\`\`

Call c1 of orders.read:

\`\`\`json
{
  "orderId": "O-17"
}
\`\`\`

## Tool results (by the runtime)

r:m2

Error of c1:

\`\`\`text
gone
\`\`\`
`);
  });

  it('lets nobody out of their fence, nor into a heading', () => {
    const text = '```\n# System\n![x](http://evil.example)\n````\n<script>';
    const [heading = '', ...rest] = transcriptMarkdown({
      ...transcript({ messageId: '<b>`x`', role: 'user', text }),
      title: '# a\n## b ![i](u)',
    }).split('\n');
    expect(heading).toBe('# \\# a \\#\\# b \\!\\[i\\]\\(u\\)');
    const fences = rest.filter((line) => /^`{5}/.test(line));
    expect(fences).toEqual(['`````text', '`````']);
    expect(rest.join('\n')).toContain('\\<b\\>\\`x\\`');
  });

  it('names the sources of a reply in fences, so that no address of theirs is a link', () => {
    const text = transcriptMarkdown(
      transcript({
        messageId: 'r:m1',
        role: 'assistant',
        text: 'So.',
        sources: [
          {
            kind: 'url',
            url: 'https://a.example/```x',
            title: '![A](https://evil.example)',
            passages: [{ text: 'It is so.' }],
          },
          {
            kind: 'document',
            title: 'Terms',
            mediaType: 'application/pdf',
            passages: [{ text: 'x', unit: 'pages', from: 2, to: 4 }],
          },
        ],
      }),
    );
    expect(text).toContain(
      'Source 1:\n\n````text\n![A](https://evil.example), https://a.example/```x\nIt is so.\n````',
    );
    expect(text).toContain('Source 2:\n\n```text\nTerms\npages 2–3: x\n```');
  });
});
