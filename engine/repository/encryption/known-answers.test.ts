/** The known answers that FORMAT.md gives are those of the code. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openBytes, sealBytes } from '../../sealing/sealed-content.ts';
import { deriveSealKeys, objectCipherKey } from './seal-keys.ts';
import { createSealedNames } from './sealed-names.ts';
import { stretchByNode, stretchByWasm } from './stretch-password.ts';

const section = readFileSync(new URL('../FORMAT.md', import.meta.url), 'utf8').split('Known answers')[1]!;
const [answers, sealed, secret] = [...section.matchAll(/^```\n(.*?)^```$/gms)].map(([, block]) => block!);
const master = Uint8Array.from({ length: 32 }, (_, at) => at);
const keys = deriveSealKeys(master, '00000000-0000-4000-8000-000000000000');

it('The keys and the name of the document follow from its master key', () => {
  const [check, cutter, plain, stored] = answers!.match(/(?:objects\/)?[0-9a-f/]{60,}/g)!;
  expect(keys).toMatchObject({ check, cutter });
  expect(createSealedNames(keys.names).storedKey(plain!)).toBe(stored);
});

it('The sealed bytes of the document are those of its content', () => {
  const key = /objects\/31\/[0-9a-f]+/.exec(answers!)![0];
  const cipherKey = objectCipherKey(keys, key);
  const content = Buffer.from('hello\n');
  const nonce = Uint8Array.from({ length: 12 }, (_, at) => at);
  const bytes = Buffer.from(sealBytes(cipherKey, content, undefined, nonce).bytes);
  const [head, frame, tail] = sealed!.trim().split('\n');
  expect(bytes).toHaveLength(580);
  expect(bytes.toString('hex').startsWith(`${head}${frame}`)).toBe(true);
  expect(bytes.toString('hex').endsWith(tail!)).toBe(true);
  expect(Buffer.from(openBytes({ cipherKey, key }, bytes).content).equals(content)).toBe(true);
});

it('The secret of a password is the one of the document, by Node and by WebAssembly', async () => {
  const salt = '000102030405060708090a0b0c0d0e0f';
  const settings = { memoryKiB: 65_536, passes: 3, lanes: 4, salt };
  for (const password of ['p\u00e4ssword', 'pa\u0308ssword']) {
    const byWasm = await stretchByWasm(password, settings);
    expect(Buffer.from(byWasm).toString('hex')).toBe(secret!.trim());
    // Node 22 has none.
    const byNode = (await stretchByNode(password, settings)) ?? byWasm;
    expect(Buffer.from(byNode).equals(byWasm)).toBe(true);
  }
});
