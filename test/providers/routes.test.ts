import { HoldfastError } from '../../core/errors.js';
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
    expect(cacheWrite).toBe(input * 1.25);
    expect(output).toBe(input * 5);
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
});
