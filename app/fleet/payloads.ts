/** Decodes payloads that Temporal's client hands out raw. */
import type { Client } from '@temporalio/client';

type Converter = Client['options']['loadedDataConverter'];
type Payloads = Parameters<Converter['payloadCodecs'][number]['decode']>[0];

export async function decode(
  { payloadCodecs, payloadConverter }: Converter,
  payloads: Payloads,
): Promise<unknown[]> {
  let plain = payloads;
  for (const codec of payloadCodecs) plain = await codec.decode(plain);
  return plain.map((payload) => payloadConverter.fromPayload(payload));
}
