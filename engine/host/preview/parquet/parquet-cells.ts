/** Formats the values of a Parquet file as text without rounding, and names its types. */
import { isUtf8 } from 'node:buffer';
import type { SchemaElement, SchemaTree } from 'hyparquet';
import { shortenCell } from '../table-preview.ts';

const BYTES_SHOWN = 32;
const DECIMAL_BYTES_MAX = 64;

/** Times become text, because a JavaScript date has no microseconds. */
export const PARSERS = {
  timestampFromMilliseconds: (value: bigint) => momentOf(value, 3),
  timestampFromMicroseconds: (value: bigint) => momentOf(value, 6),
  timestampFromNanoseconds: (value: bigint) => momentOf(value, 9),
  dateFromDays: (days: number) => momentOf(BigInt(days) * 86_400n, 0).slice(0, -' 00:00:00'.length),
};

/** @param digits Of the fraction of a second. */
function momentOf(value: unknown, digits: number): string {
  if (typeof value !== 'bigint' && typeof value !== 'number') return '';
  const whole = BigInt(value);
  const unit = 10n ** BigInt(digits);
  const part = ((whole % unit) + unit) % unit;
  const date = new Date(Number((whole - part) / unit) * 1000);
  if (Number.isNaN(date.getTime())) return String(whole);
  const seconds = date.toISOString().replace('T', ' ').slice(0, -'.000Z'.length);
  const fraction = part === 0n ? '' : `.${String(part).padStart(digits, '0').replace(/0+$/, '')}`;
  return seconds + fraction;
}

/** Of the fraction of a second, if the values are times of day. */
function digitsOfTime({ converted_type, logical_type }: SchemaElement): number | undefined {
  if (logical_type?.type === 'TIME') return { MILLIS: 3, MICROS: 6, NANOS: 9 }[logical_type.unit];
  return { TIME_MILLIS: 3, TIME_MICROS: 6 }[converted_type as string];
}

/** A number that is no time of one day stays as it is. */
function timeText(value: unknown, digits: number): string {
  const moment = momentOf(value, digits);
  return moment.startsWith('1970-01-01 ') ? moment.slice('1970-01-01 '.length) : String(value);
}

/** Null for a missing value. @param element The schema of a leaf column. */
export function cellText(value: unknown, element?: SchemaElement): string | null {
  if (value === null || value === undefined) return null;
  if (element && isDecimal(element)) return decimalText(value, element.scale ?? 0);
  const digits = element && digitsOfTime(element);
  if (digits !== undefined) return timeText(value, digits);
  if (typeof value === 'number') return element?.type === 'FLOAT' ? singleText(value) : String(value);
  if (value instanceof Uint8Array) return bytesText(value);
  if (typeof value === 'object') return shortenCell(JSON.stringify(value, plain));
  return shortenCell(String(value));
}

/** A leaf's value, or a list of them, inside lists, maps and structs: as the leaf's type has it. */
export function innerValue(value: unknown, element: SchemaElement): unknown {
  if (Array.isArray(value)) return value.map((one) => innerValue(one, element));
  if (value === null || value === undefined) return value;
  if (isDecimal(element)) return decimalText(value, element.scale ?? 0);
  const digits = digitsOfTime(element);
  if (digits !== undefined) return timeText(value, digits);
  return typeof value === 'number' && element.type === 'FLOAT' ? Number(singleText(value)) : value;
}

/** For values inside lists, maps and structs. JSON has no NaN and no infinity. */
function plain(_key: string, value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value instanceof Uint8Array ? bytesText(value) : value;
}

function bytesText(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return shortenCell(Buffer.from(bytes).toString('utf8'));
  const shown = Buffer.from(bytes.subarray(0, BYTES_SHOWN)).toString('hex');
  return `0x${shown}${bytes.length > BYTES_SHOWN ? '\u2026' : ''}`;
}

/** The shortest text that reads back as this 32-bit float. */
function singleText(value: number): string {
  for (let digits = 6; digits < 9; digits += 1)
    if (Math.fround(Number(value.toPrecision(digits))) === value)
      return String(Number(value.toPrecision(digits)));
  return String(value);
}

function decimalText(value: unknown, scale: number): string {
  let whole: bigint;
  if (value instanceof Uint8Array) {
    if (value.length > DECIMAL_BYTES_MAX) return bytesText(value);
    whole = BigInt.asIntN(value.length * 8, BigInt(`0x${Buffer.from(value).toString('hex') || '0'}`));
  } else whole = BigInt(value as bigint | number);
  const places = Math.min(Math.max(0, scale), 1_000);
  const digits = String(whole < 0n ? -whole : whole).padStart(places + 1, '0');
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return whole < 0n ? `-${text}` : text;
}

function isDecimal({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL';
}

/**
 * The schema that the library decodes with, without the types that it would round (decimals), parse (JSON) or
 * fail on. Their values arrive as they are stored.
 */
export function storedTypes(schema: readonly SchemaElement[]): SchemaElement[] {
  return schema.map((element) => {
    const { converted_type, logical_type, ...rest } = element;
    const isLeaf = element.type !== undefined;
    if (isLeaf && (isDecimal(element) || converted_type === 'BSON' || converted_type === 'INTERVAL'))
      return rest;
    if (isLeaf && (converted_type === 'JSON' || logical_type?.type === 'JSON'))
      return { ...rest, converted_type: 'UTF8' };
    const isOpaque = /^(?:VARIANT|GEOMETRY|GEOGRAPHY|BSON)$/.test(logical_type?.type ?? '');
    return isOpaque ? { ...rest, ...(converted_type && { converted_type }) } : element;
  });
}

export function typeName({ children, element }: SchemaTree): string {
  const { converted_type, logical_type, precision, scale, type, type_length } = element;
  if (children.length > 0) {
    if (converted_type === 'LIST' || logical_type?.type === 'LIST') return 'list';
    if (converted_type === 'MAP' || logical_type?.type === 'MAP') return 'map';
    return element.repetition_type === 'REPEATED' ? 'list' : 'struct';
  }
  if (isDecimal(element)) return `decimal(${precision ?? '?'}, ${scale ?? 0})`;
  if (logical_type?.type === 'TIMESTAMP') return logical_type.isAdjustedToUTC ? 'time, UTC' : 'time';
  if (digitsOfTime(element) !== undefined) return 'time of day';
  if (type === 'INT96' || converted_type?.startsWith('TIMESTAMP')) return 'time';
  if (converted_type === 'DATE') return 'date';
  if (converted_type === 'UTF8' || converted_type === 'ENUM' || logical_type?.type === 'STRING')
    return 'text';
  const unsigned = /^UINT_(\d+)$/.exec(converted_type ?? '')?.[1];
  if (unsigned !== undefined) return `uint${unsigned}`;
  const signed = /^INT_(\d+)$/.exec(converted_type ?? '')?.[1];
  if (signed !== undefined) return `int${signed}`;
  return type === 'FIXED_LEN_BYTE_ARRAY'
    ? `bytes(${type_length ?? '?'})`
    : (PLAIN_NAMES[type ?? ''] ?? 'bytes');
}

const PLAIN_NAMES: Readonly<Record<string, string>> = {
  BOOLEAN: 'boolean',
  INT32: 'int32',
  INT64: 'int64',
  FLOAT: 'float32',
  DOUBLE: 'float64',
  BYTE_ARRAY: 'bytes',
};
