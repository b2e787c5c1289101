/**
 * Checks one struct of Thrift's compact protocol without allocating. Parquet's footer and page headers are
 * such structs. The library that parses them trusts their counts, so a claimed list of a billion items would
 * exhaust the memory of the process. A struct passes if it has at most `VALUES_MAX` values, all within the
 * given bytes.
 */

const VALUES_MAX = 500_000;
const DEPTH_MAX = 24;
const VARINT_BYTES_MAX = 10;

/** Types of a field or an item, from Apache Thrift's doc/specs/thrift-compact-protocol.md. */
const [STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const STRUCT = 12;

/** @returns The end of the struct that starts at `start`. @throws Error */
export function endOfStruct(bytes: Uint8Array, start: number): number {
  let at = start;
  let values = 0;
  const take = (count: number) => {
    if (count < 0 || at + count > bytes.length) throw new Error('a header ends too early');
    at += count;
  };
  const readByte = (): number => {
    take(1);
    return bytes[at - 1]!;
  };
  const readVarint = (): number => {
    let value = 0;
    for (let count = 0; count < VARINT_BYTES_MAX; count += 1) {
      const byte = readByte();
      value += (byte & 0x7f) * 2 ** (7 * count);
      if (byte < 0x80) return value;
    }
    throw new Error('a header has a number that is too long');
  };
  const walk = (type: number, depth: number): void => {
    values += 1;
    if (values > VALUES_MAX || depth > DEPTH_MAX) throw new Error('a header is too large or too deep');
    switch (type) {
      case TRUE:
      case FALSE:
        return;
      case BYTE:
        take(1);
        return;
      case I16:
      case I32:
      case I64:
        readVarint();
        return;
      case DOUBLE:
        take(8);
        return;
      case BINARY:
        take(readVarint());
        return;
      case LIST: {
        const head = readByte();
        const count = head >> 4 === 15 ? readVarint() : head >> 4;
        const item = head & 0x0f;
        // Every item takes at least one byte, also a boolean.
        if (count > bytes.length - at) throw new Error('a header counts more than the file holds');
        for (let left = count; left > 0; left -= 1)
          walk(item === TRUE || item === FALSE ? BYTE : item, depth + 1);
        return;
      }
      case STRUCT:
        for (let head = readByte(); (head & 0x0f) !== STOP; head = readByte()) {
          if (head >> 4 === 0) readVarint();
          walk(head & 0x0f, depth + 1);
        }
        return;
      default:
        throw new Error('a header has a type that Parquet does not use');
    }
  };
  walk(STRUCT, 0);
  return at;
}
