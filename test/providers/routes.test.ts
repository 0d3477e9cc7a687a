import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';
import { knownRoutes, resolveRoute } from '../../providers/routes.js';

describe('model routes', () => {
  test.each(knownRoutes())('%s is complete and priced in whole micro-USD', (name) => {
    const route = resolveRoute(name);
    const { input, output, cacheRead, cacheWrite } = route.prices;
    expect(route.name).toBe(`${route.provider}/${route.model}`);
    for (const price of [input, output, cacheRead, cacheWrite]) {
      expect(Number.isSafeInteger(price) && price > 0).toBe(true);
    }
    expect(cacheRead).toBeLessThan(input);
    expect(cacheWrite).toBe(route.provider === 'anthropic' ? input * 1.25 : input);
    expect(output / input).toBeGreaterThanOrEqual(4);
    expect(output / input).toBeLessThanOrEqual(8);
    expect(route.contextWindow).toBeGreaterThan(route.maxOutputTokens);
  });

  test('of scripted models speak the Anthropic protocol at declared prices', () => {
    expect(resolveRoute('scripted/refunds')).toMatchObject({
      name: 'scripted/refunds',
      provider: 'anthropic',
      model: 'refunds',
      prices: { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 },
    });
  });

  test('are all named in docs/guide/providers.md', () => {
    const text = readFileSync(join(__dirname, '..', '..', 'docs', 'guide', 'providers.md'), 'utf8');
    const unnamed = knownRoutes().filter((name) => !text.includes(`\`${name.split('/')[1]}\``));
    expect(unnamed).toEqual([]);
  });

  test('that a user declares win', () => {
    const mine = { ...resolveRoute('anthropic/claude-haiku-4-5'), maxOutputTokens: 5 };
    expect(resolveRoute('anthropic/claude-haiku-4-5', { routes: [mine] })).toBe(mine);
    const own = { ...mine, name: 'acme/own' };
    expect(resolveRoute('acme/own', { routes: [mine, own] })).toBe(own);
  });

  test.each(['', 'claude', 'anthropic/none', 'scripted/', '__proto__', 'toString'])(
    'are unknown for %j, and the error says what to do',
    (name) => {
      let error: unknown;
      try {
        resolveRoute(name);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(HoldfastError);
      const { code, hint, details } = error as HoldfastError;
      expect(code).toBe('UnknownModel');
      expect(hint).toContain('declare');
      expect(details?.['known']).toContain('anthropic/claude-haiku-4-5');
    },
  );

  test.each([
    ['anthropic/claude-haiku-45', /^Did you mean anthropic\/claude-haiku-4-5/],
    ['scriptd/demo', /^Did you mean scripted\/demo\?/],
    ['claude-haiku-4-5', /^Did you mean anthropic\/claude-haiku-4-5(?!.*scripted\/cl)/],
    ['antropic/claude-haiku-4-5', /^Did you mean anthropic\/claude-haiku-4-5/],
    ['antropic/newest', /^Did you mean one of anthropic\?/],
    ['anthropic/nothing-of-that-kind', /^Use a known name/],
    ['nobody/knows', /^Use a known name/],
  ])('that %s may have meant are named', (name, hint) => {
    expect(() => resolveRoute(name)).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(hint) as string }) as Error,
    );
  });

  test('behind a gateway are those of the model, by its whole name', () => {
    const direct = resolveRoute('anthropic/claude-haiku-4-5');
    expect(resolveRoute('litellm/anthropic/claude-haiku-4-5')).toEqual({
      ...direct,
      name: 'litellm/anthropic/claude-haiku-4-5',
      provider: 'litellm',
      model: 'anthropic/claude-haiku-4-5',
    });
  });

  test('that nobody declared are reckoned with as the configuration says, if it says so', () => {
    const name = 'acme/new-model';
    expect(() => resolveRoute(name, { unknownModels: { prices: 'fail' } })).toThrow('not known');
    expect(resolveRoute(name, { unknownModels: { prices: 'zero' } })).toMatchObject({
      provider: 'acme',
      model: 'new-model',
      contextWindow: 200_000,
      prices: { input: 0, output: 0 },
      pricesVersion: 'unknown',
      temperatureAllowed: false,
    });
    const prices = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
    const declared = { unknownModels: { prices, contextWindow: 9 } };
    expect(resolveRoute(name, declared)).toMatchObject({ prices, contextWindow: 9 });
    expect(() => resolveRoute('no-vendor', declared)).toThrow('not known');
  });

  test('tell models that think from those that do not', () => {
    expect(resolveRoute('openai/gpt-4o')).toMatchObject({
      thinkingAllowed: false,
      temperatureAllowed: true,
    });
    const gpt5 = resolveRoute('openai-responses/gpt-5');
    expect(gpt5).toMatchObject({ temperatureAllowed: false, provider: 'openai-responses' });
    expect(gpt5.thinkingAllowed ?? true).toBe(true);
    expect(gpt5.thinkingAdaptive ?? false).toBe(false);
  });
});
