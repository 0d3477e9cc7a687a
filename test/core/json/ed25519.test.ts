import { ed25519 } from '@noble/curves/ed25519';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { verifyEd25519 } from '../../../core/json/ed25519.js';

const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const P = 2n ** 255n - 19n;

function newKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
  const signed = (text: string): string =>
    sign(null, Buffer.from(text), privateKey).toString('hex');
  return { key, signed };
}

function littleEndian(value: bigint): string {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse().toString('hex');
}

function fromLittleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

type CurvePoint = typeof ed25519.Point.BASE;

/** Of order 8: what is left of a point when its part in the large group is taken out. */
function torsion(): CurvePoint {
  for (let y = 2n; ; y += 1n) {
    try {
      const point = ed25519.Point.fromHex(littleEndian(y));
      const rest = point.multiplyUnsafe(L - 1n).add(point);
      if (!rest.double().double().is0()) return rest;
    } catch {
      // No point has this coordinate.
    }
  }
}

/** Signed as RFC 8032 says, with parts of small order added to key and commitment. */
function signedWith(parts: { readonly key: CurvePoint; readonly commitment: CurvePoint }) {
  const { BASE } = ed25519.Point;
  const [secret, nonce] = [123456789n, 987654321n];
  const key = BASE.multiply(secret).add(parts.key).toHex();
  const commitment = BASE.multiply(nonce).add(parts.commitment).toHex();
  return (message: string) => {
    const hashed = createHash('sha512').update(Buffer.from(commitment + key, 'hex'));
    const h = fromLittleEndian(hashed.update(message).digest()) % L;
    const signature = commitment + littleEndian((nonce + h * secret) % L);
    return { key, signature, h };
  };
}

function flipped(hex: string, at: number): string {
  const digit = (parseInt(hex[at] ?? '0', 16) ^ 1).toString(16);
  return hex.slice(0, at) + digit + hex.slice(at + 1);
}

// RFC 8032, section 7.1, tests 1 and 2: their messages are the empty one and the byte 0x72, "r".
test.each([
  [
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    'r',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
])('the vectors of RFC 8032 are valid: %s', (key, message, signature) => {
  expect(verifyEd25519(key, message, signature)).toBe(true);
  expect(verifyEd25519(key, `${message}x`, signature)).toBe(false);
});

test('what the platform signs is valid, and nothing that differs from it anywhere', () => {
  for (let round = 0; round < 40; round += 1) {
    const { key, signed } = newKey();
    const text = `${'é€𝄞'.repeat(round)}${round}`;
    const signature = signed(text);
    expect(verifyEd25519(key, text, signature)).toBe(true);
    expect(verifyEd25519(key, text, flipped(signature, (round * 7) % 128))).toBe(false);
    expect(verifyEd25519(flipped(key, (round * 5) % 64), text, signature)).toBe(false);
    expect(verifyEd25519(key, `${text} `, signature)).toBe(false);
    expect(verifyEd25519(newKey().key, text, signature)).toBe(false);
  }
});

test('the same signature in another form is none: its second half must be below the order', () => {
  const { key, signed } = newKey();
  const signature = signed('once');
  const s = fromLittleEndian(Buffer.from(signature.slice(64), 'hex'));
  expect(verifyEd25519(key, 'once', signature.slice(0, 64) + littleEndian(s + L))).toBe(false);
});

test('keys of small order, coordinates above the prime and texts that are no keys verify nothing', () => {
  const neutral = littleEndian(1n);
  // Under the neutral element every message would be signed by R = s·B, here with s = 0.
  const empty = neutral + littleEndian(0n);
  const hostile = [neutral, littleEndian(0n), littleEndian(P - 1n), littleEndian(P + 1n), '', 'zz'];
  for (const key of hostile) expect(verifyEd25519(key, 'anything', empty)).toBe(false);
  const { key, signed } = newKey();
  for (const signature of ['', 'zz', signed('x').toUpperCase(), `${signed('x')}00`]) {
    expect(verifyEd25519(key, 'x', signature)).toBe(false);
  }
});

describe('where implementations of RFC 8032 differ', () => {
  const neutral = ed25519.Point.ZERO;
  const libraryTakes = (key: string, message: string, signature: string) =>
    ed25519.verify(signature, Buffer.from(message), key, { zip215: false });

  test('a commitment with a part of small order is refused, which the library takes', () => {
    const { key, signature } = signedWith({ key: neutral, commitment: torsion() })('x');
    expect(libraryTakes(key, 'x', signature)).toBe(true);
    expect(verifyEd25519(key, 'x', signature)).toBe(false);
  });

  test('under a key with a part of small order what counts is whether the equation holds without a cofactor', () => {
    const signedFor = signedWith({ key: torsion(), commitment: neutral });
    const verdicts = Array.from({ length: 40 }, (_, number) => {
      const message = String(number);
      const { key, signature, h } = signedFor(message);
      expect(libraryTakes(key, message, signature)).toBe(true);
      const verdict = verifyEd25519(key, message, signature);
      expect(verdict).toBe(h % 8n === 0n);
      return verdict;
    });
    expect(new Set(verdicts)).toEqual(new Set([true, false]));
  });

  test('the neutral element as the commitment is one, and its other encodings are none', () => {
    const secret = 123456789n;
    const key = ed25519.Point.BASE.multiply(secret).toHex();
    const takes = (commitment: string) => {
      const hashed = createHash('sha512').update(Buffer.from(commitment + key, 'hex'));
      const h = fromLittleEndian(hashed.update('x').digest()) % L;
      return verifyEd25519(key, 'x', commitment + littleEndian((h * secret) % L));
    };
    expect(takes(littleEndian(1n))).toBe(true);
    for (const other of [1n + P, 1n + 2n ** 255n, 1n + P + 2n ** 255n]) {
      expect(takes(littleEndian(other))).toBe(false);
    }
  });

  test('every encoding of a point of small order is no key', () => {
    const eighth = torsion();
    const keys = Array.from({ length: 8 }, (_, times) => eighth.multiplyUnsafe(BigInt(times)).y)
      .flatMap((y) => [y, y + P])
      .filter((y) => y < 2n ** 255n)
      .flatMap((y) => [littleEndian(y), littleEndian(y + 2n ** 255n)]);
    for (const key of new Set(keys)) {
      const verdicts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((message) =>
        verifyEd25519(key, message, littleEndian(1n) + littleEndian(0n)),
      );
      expect(verdicts).not.toContain(true);
    }
  });
});
