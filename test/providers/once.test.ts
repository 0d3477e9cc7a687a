import { once } from '../../providers/once.js';

test('what follows from an object is reckoned once for each, also where nothing follows from it', () => {
  const asked: object[] = [];
  const nothing = once((of: object): undefined => void asked.push(of));
  const [one, other] = [{}, {}];
  expect([nothing(one), nothing(other), nothing(one)]).toEqual([undefined, undefined, undefined]);
  expect(asked).toEqual([one, other]);
});
