/**
 * DVC's MD5s. Before 3.0 DVC hashed text as if each CRLF were an LF (`md5-dos2unix`): it read 1 MiB at a time
 * and replaced CRLF within it. Its versions differ in whether the first 512 bytes of the file, or those of
 * each 1 MiB, decide if it is text. (dvc-data, `hashfile/hash.py` and `hashfile/istextfile.py`.)
 */
import { createHash } from 'node:crypto';
import { DrayError } from '../../../api/error.ts';
import type { DvcHashKind } from './dvc-outputs.ts';

const BLOCK_BYTES = 1024 * 1024;
const SAMPLE_BYTES = 512;
const NONTEXT_SHARE_MAX = 0.3;
const CR = 13;
const LF = 10;

export interface DvcDigest {
  add(piece: Uint8Array): void;
  /** Every MD5 that DVC may have given to this content. */
  end(): readonly string[];
}

export function createDvcDigest(kind: DvcHashKind): DvcDigest {
  const plain = createHash('md5');
  if (kind === 'md5')
    return {
      add: (piece) => plain.update(piece),
      end: () => [plain.digest('hex')],
    };
  const byBlock = createHash('md5');
  const byFile = createHash('md5');
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let filled = 0;
  let isTextFile: boolean | undefined;
  const endBlock = () => {
    const bytes = block.subarray(0, filled);
    const isText = isTextBlock(bytes.subarray(0, SAMPLE_BYTES));
    isTextFile ??= isText;
    const unix = isText || isTextFile ? withoutCarriageReturns(bytes) : bytes;
    byBlock.update(isText ? unix : bytes);
    byFile.update(isTextFile ? unix : bytes);
    filled = 0;
  };
  return {
    add(piece) {
      plain.update(piece);
      for (let at = 0; at < piece.length; ) {
        const part = piece.subarray(at, at + BLOCK_BYTES - filled);
        block.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled === BLOCK_BYTES) endBlock();
      }
    },
    end() {
      if (filled > 0) endBlock();
      return [plain, byBlock, byFile].map((hash) => hash.digest('hex'));
    },
  };
}

/** The body, which fails at its end unless it has this MD5. */
export async function* md5CheckedBody(
  body: AsyncIterable<Uint8Array>,
  { kind, md5, name }: { readonly kind: DvcHashKind; readonly md5: string; readonly name: string },
): AsyncGenerator<Uint8Array, void, undefined> {
  const digest = createDvcDigest(kind);
  for await (const piece of body) {
    digest.add(piece);
    yield piece;
  }
  if (!digest.end().includes(md5)) throw otherContent(name);
}

export function otherContent(name: string): DrayError {
  return new DrayError('damaged', `${name} does not have the content that its name says.`, {
    data: { path: name, reason: 'otherMd5' },
  });
}

/** As DVC decides: no NUL, and at most 30 % of unusual bytes. */
function isTextBlock(bytes: Uint8Array): boolean {
  let unusual = 0;
  for (const byte of bytes) {
    if (byte === 0) return false;
    const isUsual = (byte >= 32 && byte < 127) || (byte >= 8 && byte <= 13 && byte !== 11);
    if (!isUsual) unusual += 1;
  }
  return bytes.length === 0 || unusual / bytes.length <= NONTEXT_SHARE_MAX;
}

function withoutCarriageReturns(bytes: Uint8Array): Uint8Array {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const [at, byte] of bytes.entries()) if (byte !== CR || bytes[at + 1] !== LF) kept[length++] = byte;
  return kept.subarray(0, length);
}
