import fc from 'fast-check';
import { expect, it } from 'vitest';
import { elementsOf, textOf } from '../answers/s3-xml.ts';
import { isWritableInXml } from '../answers/s3-xml-requests.ts';
import { resolvePlace } from '../s3-options.ts';
import { deleteKeys } from './delete.ts';
import type { S3Caller } from './s3-call.ts';

it('a bulk removal names any keys that XML can hold as they are', async () => {
  let body = '';
  const place = resolvePlace({ bucket: 'data', prefix: '', environment: {} }, { name: 'd', settings: {} });
  const caller = {
    connection: { place },
    client: {
      exchange: async (request: { readonly body: Uint8Array }) => {
        body = new TextDecoder().decode(request.body);
        const removed = body
          .replaceAll('<Object>', '<Deleted>')
          .replaceAll('</Object>', '</Deleted>')
          .replace(/^<Delete [^>]*>|<Quiet>.*$/g, '');
        const bytes = new TextEncoder().encode(`<DeleteResult>${removed}</DeleteResult>`);
        return { status: 200, headers: {}, bytes };
      },
    },
  } as unknown as S3Caller;
  const key = fc.string({ unit: 'binary', minLength: 1 }).filter(isWritableInXml);
  await fc.assert(
    fc.asyncProperty(fc.array(key, { minLength: 2 }), async (keys) => {
      await deleteKeys(caller, keys, {});
      expect([...elementsOf(body, 'Object')].map((element) => textOf(element, 'Key'))).toEqual(keys);
      // An XML parser turns line ends in text into one kind, and leaves those in character references.
      expect(body).not.toMatch(/[\r\n]/);
    }),
  );
});
