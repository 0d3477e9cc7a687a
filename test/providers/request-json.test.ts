import fc from 'fast-check';
import { once } from '../../providers/once.js';
import { requestJson } from '../../providers/request-json.js';
import { drawsOf } from '../properties.js';

const messages = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 4 });
const fields = fc.dictionary(fc.string(), fc.option(fc.jsonValue(), { nil: undefined }));

test('a request is written as JSON.stringify writes it, also when some of its messages were written before', () => {
  fc.assert(
    fc.property(messages, messages, fields, (before, added, others) => {
      for (const sent of [before, [...before, ...added], added]) {
        const body = { ...others, messages: sent, last: undefined };
        expect(requestJson(body)).toBe(JSON.stringify(body));
      }
    }),
    drawsOf(300),
  );
});

test('what follows from an object is reckoned once for each, also where nothing follows from it', () => {
  const asked: object[] = [];
  const nothing = once((of: object): undefined => void asked.push(of));
  const [one, other] = [{}, {}];
  expect([nothing(one), nothing(other), nothing(one)]).toEqual([undefined, undefined, undefined]);
  expect(asked).toEqual([one, other]);
});
