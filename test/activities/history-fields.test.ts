/** The common part of Temporal's definitions, against the definitions themselves. */
import { createRequire } from 'node:module';
import { commonEvent, isCommonEvent } from '../../activities/history-fields.js';
import type { EnumType, FieldType, MessageType } from '../../activities/history-form.js';

const load = createRequire(require.resolve('@temporalio/common'));
const definitions = load('@temporalio/proto') as {
  lookupType(name: string): MessageType;
  lookupEnum(name: string): EnumType;
};
const whole = definitions.lookupType('temporal.api.history.v1.HistoryEvent');

/** Places at which the common part says something else. */
function differences(
  common: MessageType,
  defined: MessageType,
  seen: ReadonlySet<MessageType>,
): readonly string[] {
  if (seen.has(common)) return [];
  const within = new Set([...seen, common]);
  return common.fieldsArray.flatMap((field) => {
    const same = defined.fieldsArray.find((one) => one.resolve().jsonName === field.jsonName);
    const place = `${defined.fullName}.${field.jsonName}`;
    return same === undefined
      ? [`${place}: not there`]
      : fieldDifferences(field, same, within).map((one) => `${place}: ${one}`);
  });
}

function fieldDifferences(
  field: FieldType,
  unresolved: FieldType,
  seen: ReadonlySet<MessageType>,
): readonly string[] {
  const same = unresolved.resolve();
  if (field.map !== same.map || field.repeated !== same.repeated) return ['how often'];
  if (field.map && same.keyType !== 'string') return ['its names'];
  if (field.partOf?.name !== same.partOf?.name) return ['its group'];
  const [type, other] = [field.resolvedType, same.resolvedType];
  if (type === null || other === null) {
    return type === other && field.type === same.type ? [] : ['its type'];
  }
  if ('values' in type) {
    if (!('values' in other)) return ['its type'];
    return Object.keys(type.values).filter((name) => !Object.hasOwn(other.values, name));
  }
  if ('values' in other) return ['its type'];
  const isOwnForm = (one: MessageType): boolean => one.fullName.includes('google.protobuf.');
  if (isOwnForm(type) || isOwnForm(other)) {
    return other.fullName === type.fullName ? [] : ['its form'];
  }
  return differences(type, other, seen);
}

test('All that the common part says of an event, Temporal’s definitions say.', () => {
  expect(commonEvent().fieldsArray.length).toBeGreaterThan(20);
  expect(differences(commonEvent(), whole, new Set())).toEqual([]);
});

test('Of each type that is common the attributes are, and the type is one of an event.', () => {
  const names = new Set(commonEvent().fieldsArray.map(({ jsonName }) => jsonName));
  const { values } = definitions.lookupEnum('temporal.api.enums.v1.EventType');
  const common = Object.keys(values).filter(isCommonEvent);
  expect(common.length).toBeGreaterThan(20);
  expect(common.length).toBe([...names].filter((name) => name.endsWith('EventAttributes')).length);
  expect(isCommonEvent('EVENT_TYPE_UNSPECIFIED')).toBe(false);
  expect(isCommonEvent('EVENT_TYPE_constructor')).toBe(false);
});
