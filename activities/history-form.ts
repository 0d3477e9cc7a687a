/**
 * What Temporal's reader of proto3 JSON surely takes, told by its own definitions many times as fast as it reads.
 * Invariant: what fits here that reader takes, and its bytes are in the form in which Temporal writes them; of what does not,
 * only the reader tells.
 */
import { isRecord, isWellFormed } from '../core/json/shape.js';

/** As much of the reflection of protobufjs as is used here. */
export interface MessageType {
  readonly fullName: string;
  readonly fieldsArray: readonly FieldType[];
}

export interface EnumType {
  readonly values: { readonly [name: string]: number };
}

export interface FieldType {
  readonly jsonName: string;
  readonly type: string;
  readonly map: boolean;
  readonly repeated: boolean;
  /** Of a map. */
  readonly keyType?: string;
  readonly resolvedType: MessageType | EnumType | null;
  readonly partOf: { readonly name: string } | null;
  resolve(): FieldType;
}

type Fits = (value: unknown, depth: number) => boolean;

/** Far less than the reader takes, and more than histories have. */
const DEPTH_MAX = 24;

export function fitsOf(type: MessageType): (value: unknown) => boolean {
  const fits = messageFits(type, new Map());
  return (value) => fits(value, DEPTH_MAX);
}

interface Field {
  readonly fits: Fits;
  readonly oneof: string | undefined;
}

/** Fields by their names in JSON, of each type that has been met. */
type Known = Map<MessageType, ReadonlyMap<string, Field>>;

const PACKAGE_OF_FORMS = '.google.protobuf.';

function messageFits(type: MessageType, known: Known): Fits {
  const { fullName } = type;
  if (fullName.startsWith(PACKAGE_OF_FORMS)) {
    return FORMS[fullName.slice(PACKAGE_OF_FORMS.length)] ?? nothing;
  }
  return (value, depth) => {
    if (depth === 0 || !isRecord(value)) return false;
    const fields = fieldsOf(type, known);
    let oneofs: readonly string[] = [];
    for (const name in value) {
      const field = fields.get(name);
      if (field === undefined || !field.fits(value[name], depth - 1)) return false;
      const { oneof } = field;
      if (oneof === undefined) continue;
      if (oneofs.includes(oneof)) return false;
      oneofs = [...oneofs, oneof];
    }
    return true;
  };
}

function fieldsOf(type: MessageType, known: Known): ReadonlyMap<string, Field> {
  const found = known.get(type);
  if (found !== undefined) return found;
  const fields = type.fieldsArray.map((unresolved) => {
    const field = unresolved.resolve();
    return [field.jsonName, { fits: fieldFits(field, known), oneof: field.partOf?.name }] as const;
  });
  const made = new Map(fields);
  known.set(type, made);
  return made;
}

function fieldFits(field: FieldType, known: Known): Fits {
  const one = singleFits(field, known);
  if (field.map) {
    if (field.keyType !== 'string') return nothing;
    return (value, depth) => {
      if (!isRecord(value)) return false;
      for (const key in value) {
        if (!isWellFormed(key) || !one(value[key], depth)) return false;
      }
      return true;
    };
  }
  if (!field.repeated) return one;
  return (value, depth) => Array.isArray(value) && value.every((item) => one(item, depth));
}

function singleFits({ resolvedType, type }: FieldType, known: Known): Fits {
  if (resolvedType === null) return SCALARS[type] ?? nothing;
  if ('fieldsArray' in resolvedType) return messageFits(resolvedType, known);
  const { values } = resolvedType;
  return (value) => typeof value === 'string' && Object.hasOwn(values, value);
}

const nothing: Fits = () => false;

const wholeUpTo =
  (max: number): Fits =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;

const textLike =
  (form: RegExp): Fits =>
  (value) =>
    typeof value === 'string' && form.test(value);

const SMALL = wholeUpTo(0x7f_ff_ff_ff);
/** Fewer digits than the largest has. */
const LARGE = textLike(/^\d{1,18}$/);

const SCALARS: { readonly [type: string]: Fits | undefined } = {
  int32: SMALL,
  uint32: SMALL,
  int64: LARGE,
  uint64: LARGE,
  bool: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string' && isWellFormed(value),
  // What is written again as it stood has no other letters, and no bits that say nothing.
  bytes: (value) =>
    typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value,
  double: Number.isFinite,
};

const TIME =
  /^(?:19[7-9]\d|[2-9]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/;
/** A day that its month may not have. */
const LATE_DAY = /^(\d{4}-\d\d-(?:29|3[01]))T/;

/** Types that have a form of their own in JSON. */
const FORMS: { readonly [name: string]: Fits | undefined } = {
  Duration: textLike(/^\d{1,9}(?:\.\d{1,9})?s$/),
  Timestamp: (value) => typeof value === 'string' && (TIME.test(value) || isLateTime(value)),
};

function isLateTime(text: string): boolean {
  const day = LATE_DAY.exec(text)?.[1];
  if (day === undefined || !TIME.test(`${text.slice(0, 8)}01${text.slice(10)}`)) return false;
  const date = new Date(`${day}T00:00:00Z`);
  // One that its month does not have is counted on into the next, or is none.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
