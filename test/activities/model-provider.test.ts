/** What a worker says that cannot reach a model: the one thing that has to be set. */
import { howToReach } from '../../activities/model/model-provider.js';

const ENDPOINT = { name: 'house', protocol: 'chat', baseUrl: 'http://models.local/v1' } as const;

test.each([
  ['anthropic', { endpoints: [] }, /ANTHROPIC_API_KEY/],
  ['house', { endpoints: [{ ...ENDPOINT, keyVariable: 'HOUSE_KEY' }] }, /HOUSE_KEY/],
  ['house', { endpoints: [] }, /endpoint named house/],
])('%s with %j', (provider, config, said) => {
  expect(howToReach(provider, config)).toMatch(said);
});
