/**
 * `make-sample FOLDER [model]`: the recordings that the guide shows, with a large model or without; always
 * the same.
 */
import { createCipheriv } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const RECORDING_BYTES = 4 * 1024;
const MODEL_BYTES = 72 * 1024 * 1024;

function noise(sizeBytes: number, seed: number): Buffer {
  const key = Buffer.alloc(16);
  key.writeUInt32BE(seed);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(sizeBytes));
}

const [folder = '', model] = process.argv.slice(2);
const recordings = model ? 2_000 : 200;
mkdirSync(join(folder, 'audio'), { recursive: true });
const rows = ['file,species'];
for (let index = 0; index < recordings; index += 1) {
  const name = `audio/${String(index).padStart(4, '0')}.wav`;
  writeFileSync(join(folder, name), noise(RECORDING_BYTES, index));
  rows.push(`${name},${['robin', 'wren', 'heron'][index % 3]}`);
}
writeFileSync(join(folder, 'labels.csv'), `${rows.join('\n')}\n`);
if (model) writeFileSync(join(folder, 'model.bin'), noise(MODEL_BYTES, recordings));
