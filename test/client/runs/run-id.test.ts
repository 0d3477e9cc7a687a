import { checkRunId, newRunId, ulid } from '../../../client/runs/run-id.js';
import { runIdPrefixes } from '../../../client/decide/find-ask.js';

describe('run ids', () => {
  it('are unique and sort by the time of their making', () => {
    const early = newRunId(1_000);
    const late = newRunId(2_000);
    expect(early).toMatch(/^run_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(early < late).toBe(true);
    expect(newRunId(1_000)).not.toBe(newRunId(1_000));
  });

  it('encode 48 bits of time and 80 of randomness', () => {
    // The example time of the ULID specification.
    expect(ulid(1_469_918_176_385, new Uint8Array(16))).toBe(`01ARYZ6S41${'0'.repeat(16)}`);
    expect(ulid(2 ** 48 - 1, new Uint8Array(16).fill(255))).toBe(`7ZZZZZZZZZ${'Z'.repeat(16)}`);
    expect(() => ulid(-1, new Uint8Array(16))).toThrow(RangeError);
    expect(() => ulid(0, new Uint8Array(3))).toThrow(RangeError);
  });

  it.each(['a', 'order-17', 'run_01J', 'tenant:order:17', 'A.b_c-d', '...', 'x'.repeat(128)])(
    'may be %s',
    (id) => {
      expect(checkRunId(id)).toBe(id);
    },
  );

  it.each(['', '.', '..', ' ', 'a b', 'a/b', 'ü', 'x'.repeat(129), 'a\n', undefined, 7])(
    'may not be %p',
    (id) => {
      expect(() => checkRunId(id)).toThrow(expect.objectContaining({ code: 'InvalidTask' }));
    },
  );

  it('are found in an ask id, the longest first', () => {
    expect(runIdPrefixes('run_1:3:r2:outcome')).toEqual(['run_1:3:r2', 'run_1:3', 'run_1']);
    expect(runIdPrefixes('shop:17:budget:1')).toEqual(['shop:17:budget', 'shop:17', 'shop']);
    expect(runIdPrefixes('nothing')).toEqual([]);
    expect(runIdPrefixes(':3')).toEqual([]);
    expect(runIdPrefixes('a:'.repeat(200)).length).toBeLessThanOrEqual(8);
  });
});
