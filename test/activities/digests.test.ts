import fc from 'fast-check';
import { callDigest, digestOf, knownDigestOf, sha256Hex } from '../../activities/digests.js';
import * as core from '../../core/json/json.js';
import type { Json } from '../../core/json/json.js';

test('activities digest as replayed code does, whatever the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
      const args = value as Json;
      const call = { tool: text, toolVersion: '1', args };
      // JSON texts have no half of a surrogate pair; a bare text may.
      expect(sha256Hex(`${text}\ud800`)).toBe(core.sha256Hex(`${text}\ud800`));
      expect(digestOf(args)).toBe(core.digestOf(args));
      expect(knownDigestOf(args)).toBe(core.digestOf(args));
      expect(callDigest(call)).toBe(core.callDigest(call));
    }),
  );
});
