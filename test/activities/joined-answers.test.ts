/** A reply that goes on with an answer (G100). */
import { attempt, modelInput, openedHead, startBed, type Bed } from './setup.js';

const SCHEMA = { type: 'object', properties: { parcel: { type: 'string' } }, required: ['parcel'] };

let bed: Bed;
afterEach(() => bed.end());

async function reply(text: string, begun?: string) {
  bed = await startBed({ replies: [{ text, usage: { input: 100, output: 10 } }] });
  const before = begun === undefined ? {} : { before: await bed.store.putText('default', begun) };
  const outputSchema = { text: JSON.stringify(SCHEMA) };
  const asked = modelInput(await openedHead(bed), { ...before, outputSchema });
  return (await attempt(bed.activities().call_model, asked)).reply;
}

test('is judged together with the beginning, however long that is', async () => {
  const begun = `{"note":"${'x'.repeat(9_000)}","parcel":`;
  const { text, output, answer } = await reply('"late"}', begun);
  expect({ text, ok: output?.ok }).toEqual({ text: { text: '"late"}' }, ok: true });
  expect(await bed.store.getText('default', answer!)).toBe(`${begun}"late"}`);
});

test('says only its own text where it begins the answer', async () => {
  expect(await reply('"late"}')).toMatchObject({ output: { ok: false } });
  expect(await reply('{}')).not.toHaveProperty('answer');
});

test('keeps the beginning when the reply is silent', async () => {
  expect(await reply('', '{"parcel":"late"}')).toMatchObject({
    answer: { text: '{"parcel":"late"}' },
    output: { ok: true },
  });
});
