/**
 * Unpacks LZ4 blocks within the size that the page's header claims, which is checked before. Every length and
 * every offset is checked against the bytes that are there, because the file may be hostile.
 * https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
 */

/** LZ4_RAW: one block. @throws Error if it is damaged */
export function unpackLz4(input: Uint8Array, sizeBytes: number): Uint8Array {
  const output = new Uint8Array(sizeBytes);
  if (unpackBlock(input, output, 0) !== sizeBytes) throw damaged();
  return output;
}

/**
 * The older LZ4: frames as Hadoop writes them, or one block without a frame, which early versions of Arrow
 * wrote under the same name. @throws Error if it is neither
 */
export function unpackHadoopLz4(input: Uint8Array, sizeBytes: number): Uint8Array {
  try {
    return unpackFrames(input, sizeBytes);
  } catch {
    return unpackLz4(input, sizeBytes);
  }
}

/**
 * Each frame has its unpacked size, then blocks with their packed size, until it is complete. All sizes have
 * four bytes, the highest first.
 */
function unpackFrames(input: Uint8Array, sizeBytes: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const output = new Uint8Array(sizeBytes);
  let at = 0;
  let done = 0;
  while (at < input.length) {
    if (at + 4 > input.length) throw damaged();
    const end = done + view.getUint32(at);
    at += 4;
    if (end > sizeBytes) throw damaged();
    while (done < end) {
      if (at + 4 > input.length) throw damaged();
      const packedBytes = view.getUint32(at);
      at += 4;
      // An empty block would yield nothing, and the loop would not end.
      if (packedBytes === 0 || packedBytes > input.length - at) throw damaged();
      const next = unpackBlock(input.subarray(at, at + packedBytes), output.subarray(0, end), done);
      at += packedBytes;
      done = next;
    }
  }
  if (done !== sizeBytes) throw damaged();
  return output;
}

const MATCH_MIN = 4;

/**
 * @param start The place in the output at which the block begins. Blocks do not refer to earlier ones.
 * @returns Where the block ends in the output.
 */
function unpackBlock(input: Uint8Array, output: Uint8Array, start: number): number {
  let at = 0;
  let done = start;
  const length = (nibble: number): number => {
    let sum = nibble;
    for (let more = nibble === 15 ? 255 : 0; more === 255; sum += more) {
      if (at >= input.length) throw damaged();
      more = input[at++]!;
    }
    // A sum of bytes of the input cannot overflow.
    if (sum > output.length - done) throw damaged();
    return sum;
  };
  while (at < input.length) {
    const token = input[at++]!;
    const literals = length(token >> 4);
    if (literals > input.length - at) throw damaged();
    output.set(input.subarray(at, at + literals), done);
    at += literals;
    done += literals;
    if (at === input.length) break;
    if (at + 2 > input.length) throw damaged();
    const offset = input[at]! | (input[at + 1]! << 8);
    at += 2;
    if (offset === 0 || offset > done - start) throw damaged();
    const matched = length(token & 15) + MATCH_MIN;
    if (matched > output.length - done) throw damaged();
    // A match may overlap what it writes, so it is copied byte by byte.
    for (const end = done + matched; done < end; done += 1) output[done] = output[done - offset]!;
  }
  return done;
}

function damaged(): Error {
  return new Error('its LZ4 compression is damaged');
}
