/**
 * Verifying Ed25519 signatures (RFC 8032) in plain JavaScript: the workflow sandbox has no crypto. It only
 * verifies. Signing is done outside, by the platform, so nothing here ever sees a secret and nothing here
 * needs to run in constant time.
 *
 * Invariants:
 *  E1 Total: whatever the texts are, the answer is true or false.
 *  E2 As strict as RFC 8032 allows: `s` below the group's order, coordinates below the field's prime. Keys of
 *     small order, under which anything is valid, are no keys.
 */
import { sha512 } from '@noble/hashes/sha2';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils';

const P = 2n ** 255n - 19n;
/** Order of the base point. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const D2 = (2n * D) % P;
const SQRT_MINUS_1 = 19681161376707505956807079304988542015446066515923890162744021073123829784752n;
const SIGN_BIT = 1n << 255n;
const MASK = SIGN_BIT - 1n;

/** Extended coordinates: x = X/Z, y = Y/Z, x·y = T/Z. */
interface Point {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
  readonly t: bigint;
}

const NEUTRAL: Point = { x: 0n, y: 1n, z: 1n, t: 0n };
const BASE_X = 15112221349535400772501151409588531511454012693041857206046113283949847762202n;
const BASE_Y = 46316835694926478169428394003475163141307993866256225615783033603165251855960n;
const BASE: Point = { x: BASE_X, y: BASE_Y, z: 1n, t: (BASE_X * BASE_Y) % P };

const KEY = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[0-9a-f]{128}$/;

/** Key and signature are lower-case hex, as RFC 8032 encodes them. */
export function verifyEd25519(key: string, message: string, signature: string): boolean {
  if (!KEY.test(key) || !SIGNATURE.test(signature)) return false;
  const s = fromLittleEndian(signature.slice(64));
  if (s >= L) return false;
  const owner = decode(key);
  if (owner === undefined || isSmallOrder(owner)) return false;
  const commitment = signature.slice(0, 64);
  const text = utf8ToBytes(message);
  const hashed = new Uint8Array(64 + text.length);
  hashed.set(hexToBytes(commitment + key));
  hashed.set(text, 64);
  const h = fromLittleEndian(bytesToHex(sha512(hashed))) % L;
  return encode(sumOfProducts(s, { factor: h, point: negated(owner) })) === commitment;
}

function mod(value: bigint): bigint {
  const rest = value % P;
  return rest < 0n ? rest + P : rest;
}

/**
 * The same modulo P, and little more than 255 bits of it, for products of sums of such: 2^255 is 19 there.
 * Cheaper than a division.
 */
function fold(value: bigint): bigint {
  const once = (value & MASK) + (value >> 255n) * 19n;
  return (once & MASK) + (once >> 255n) * 19n;
}

function add(a: Point, b: Point): Point {
  const first = fold((a.y - a.x) * (b.y - b.x));
  const second = fold((a.y + a.x) * (b.y + b.x));
  const third = fold(fold(a.t * b.t) * D2);
  const fourth = fold(2n * a.z * b.z);
  const e = second - first;
  const f = fourth - third;
  const g = fourth + third;
  const h = second + first;
  return { x: fold(e * f), y: fold(g * h), z: fold(f * g), t: fold(e * h) };
}

function double({ x, y, z }: Point): Point {
  const xx = fold(x * x);
  const yy = fold(y * y);
  const zz = fold(2n * z * z);
  const sum = x + y;
  const e = fold(sum * sum) - xx - yy;
  const g = yy - xx;
  const f = g - zz;
  const h = -xx - yy;
  return { x: fold(e * f), y: fold(g * h), z: fold(f * g), t: fold(e * h) };
}

function negated({ x, y, z, t }: Point): Point {
  return { x: -x, y, z, t: -t };
}

const WINDOW_BITS = 4n;
const WINDOWS = 64n;
const WINDOW_MASK = 15n;

/** s·base + factor·point, four bits of both factors at a time. */
function sumOfProducts(
  s: bigint,
  { factor, point }: { readonly factor: bigint; readonly point: Point },
): Point {
  const ofBase = multiples(BASE);
  const ofPoint = multiples(point);
  let sum = NEUTRAL;
  for (let window = WINDOWS - 1n; window >= 0n; window -= 1n) {
    sum = double(double(double(double(sum))));
    const shift = window * WINDOW_BITS;
    sum = withMultiple(sum, ofBase, (s >> shift) & WINDOW_MASK);
    sum = withMultiple(sum, ofPoint, (factor >> shift) & WINDOW_MASK);
  }
  return sum;
}

function withMultiple(sum: Point, table: readonly Point[], digit: bigint): Point {
  return digit === 0n ? sum : add(sum, table[Number(digit)] ?? NEUTRAL);
}

function multiples(point: Point): readonly Point[] {
  const table = [NEUTRAL, point];
  while (table.length <= Number(WINDOW_MASK)) table.push(add(table.at(-1) ?? NEUTRAL, point));
  return table;
}

function isSmallOrder(point: Point): boolean {
  const { x, y, z } = double(double(double(point)));
  return mod(x) === 0n && mod(y - z) === 0n;
}

function encode({ x, y, z }: Point): string {
  const inverse = power(mod(z), P - 2n);
  const affineX = mod(x * inverse);
  const affineY = mod(y * inverse);
  return toLittleEndian(affineX % 2n === 0n ? affineY : affineY + SIGN_BIT);
}

function decode(hex: string): Point | undefined {
  const coded = fromLittleEndian(hex);
  const isOdd = coded >= SIGN_BIT;
  const y = isOdd ? coded - SIGN_BIT : coded;
  if (y >= P) return undefined;
  const yy = (y * y) % P;
  const x = squareRootOf(mod(yy - 1n), mod(D * yy + 1n));
  if (x === undefined || (x === 0n && isOdd)) return undefined;
  const signed = (x % 2n === 1n) === isOdd ? x : P - x;
  return { x: signed, y, z: 1n, t: (signed * y) % P };
}

/** The square root of u/v, if there is one. */
function squareRootOf(u: bigint, v: bigint): bigint | undefined {
  const v3 = (((v * v) % P) * v) % P;
  const v7 = (((v3 * v3) % P) * v) % P;
  const root = (((u * v3) % P) * power((u * v7) % P, (P - 5n) / 8n)) % P;
  const square = (((v * root) % P) * root) % P;
  if (square === u) return root;
  return square === mod(-u) ? (root * SQRT_MINUS_1) % P : undefined;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = fold(result * factor);
    factor = fold(factor * factor);
  }
  return mod(result);
}

function fromLittleEndian(hex: string): bigint {
  return BigInt(`0x${reversed(hex)}`);
}

function toLittleEndian(value: bigint): string {
  return reversed(value.toString(16).padStart(64, '0'));
}

function reversed(hex: string): string {
  let bytes = '';
  for (let end = hex.length; end > 0; end -= 2) bytes += hex.slice(end - 2, end);
  return bytes;
}
