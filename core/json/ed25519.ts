/**
 * Verifying Ed25519 signatures (RFC 8032) in the workflow sandbox, which has no crypto: the library knows points, and
 * the equation is written out.
 *
 * Invariants:
 *  E1 Total: whatever the texts are, the answer is true or false.
 *  E2 As strict as RFC 8032 allows: `s` below the group's order, coordinates below the field's prime. Keys of
 *     small order, under which anything is valid, are no keys.
 *  E3 The equation has no cofactor. The library's own `verify` multiplies both sides by 8 and takes signatures that
 *     this refuses: a history in which one was refused would not replay.
 */
import { edwards } from '@noble/curves/abstract/edwards';
import { bytesToNumberLE } from '@noble/curves/utils';
import { sha512 } from '@noble/hashes/sha2';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils';

const P = 2n ** 255n - 19n;

/** The library's ready-made curve brings eight more constructions along, and each run would load them for a millisecond. */
const Point = edwards({
  p: P,
  n: 2n ** 252n + 27742317777372353535851937790883648493n,
  h: 8n,
  a: P - 1n,
  d: 37095705934669439343138083508754565189542113879843219016388785533085940283555n,
  Gx: 15112221349535400772501151409588531511454012693041857206046113283949847762202n,
  Gy: 46316835694926478169428394003475163141307993866256225615783033603165251855960n,
});
const Scalar = Point.Fn;
/** Multiplying the library's own base point first makes a table of it, which pays for many signatures alone. */
const BASE = Point.fromAffine(Point.BASE.toAffine());

const KEY = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[0-9a-f]{128}$/;

/** Key and signature are lower-case hex, as RFC 8032 encodes them. */
export function verifyEd25519(key: string, message: string, signature: string): boolean {
  if (!KEY.test(key) || !SIGNATURE.test(signature)) return false;
  const commitment = signature.slice(0, 64);
  try {
    const owner = Point.fromHex(key);
    if (owner.isSmallOrder()) return false;
    const s = bytesToNumberLE(hexToBytes(signature.slice(64)));
    if (!Scalar.isValid(s)) return false;
    const hashed = concatBytes(hexToBytes(commitment + key), utf8ToBytes(message));
    const h = Scalar.create(bytesToNumberLE(sha512(hashed)));
    const expected = BASE.multiplyUnsafe(s).subtract(owner.multiplyUnsafe(h));
    return expected.toHex() === commitment;
  } catch {
    // The library throws for what is no point.
    return false;
  }
}
