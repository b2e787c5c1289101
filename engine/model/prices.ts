/**
 * The price of requests, for plans and summaries, and of storage. List prices: discounts, free allowances
 * and traffic are not included.
 */

export interface RequestCounts {
  /** GET and HEAD. */
  readonly reads: number;
  /** PUT, copies, and every step of a multipart upload. */
  readonly writes: number;
  readonly lists: number;
  readonly deletes: number;
}

/** Dollars per 1,000 requests. */
export type PriceRow = Readonly<Record<keyof RequestCounts, number>>;

/**
 * After the providers' published price lists, as they were known when this was written (2026); not fetched,
 * so a forecast and not an invoice:
 * - `aws`: S3 pricing, S3 Standard, US East (N. Virginia): PUT, COPY, POST, LIST $0.005; GET and all others
 *   $0.0004; DELETE free.
 * - `b2`: Backblaze "API transactions": class A (uploads, deletes) free; class B (downloads, HEAD) $0.004 per
 *   10,000; class C (lists) $0.004 per 1,000. A copy is class C there; it is counted as an upload here.
 * - `r2`: Cloudflare R2 pricing, Standard: class A (writes, lists) $4.50 and class B (reads) $0.36 per
 *   million; deletes free.
 * - `wasabi`: Wasabi pricing: no charge for API requests.
 */
const PRICES: Readonly<Record<string, PriceRow>> = {
  aws: { reads: 0.0004, writes: 0.005, lists: 0.005, deletes: 0 },
  b2: { reads: 0.0004, writes: 0, lists: 0.004, deletes: 0 },
  r2: { reads: 0.00036, writes: 0.0045, lists: 0.0045, deletes: 0 },
  wasabi: { reads: 0, writes: 0, lists: 0, deletes: 0 },
  local: { reads: 0, writes: 0, lists: 0, deletes: 0 },
};

const FREE: PriceRow = { reads: 0, writes: 0, lists: 0, deletes: 0 };

/**
 * The row of a provider (`ObjectStore.provider`). An unknown provider costs nothing, like a self-hosted
 * server.
 */
export function pricesOf(provider: string): PriceRow {
  return Object.hasOwn(PRICES, provider) ? PRICES[provider]! : FREE;
}

/** The price of the requests, in US dollars. */
export function dollarsFor(provider: string, counts: RequestCounts): number {
  const row = pricesOf(provider);
  const perThousand =
    counts.reads * row.reads +
    counts.writes * row.writes +
    counts.lists * row.lists +
    counts.deletes * row.deletes;
  return perThousand / 1000;
}

const GIB = 1024 ** 3;
const GB = 1000 ** 3;

/**
 * Dollars per byte and month, from the same lists:
 * - `aws`: S3 Standard, US East, the first 50 TB: $0.023 per GB, which Amazon counts as 2^30 bytes.
 * - `b2`: $6 per TB, `r2`: $0.015 per GB-month; both count 10^9 bytes.
 * - `wasabi`: $6.99 per TB of 1,024 GB; its minimum of one TB is ignored.
 */
const STORAGE: Readonly<Record<string, number>> = {
  aws: 0.023 / GIB,
  b2: 0.006 / GB,
  r2: 0.015 / GB,
  wasabi: 6.99 / (1024 * GIB),
  local: 0,
};

/** Dollars a month for stored bytes. Undefined for an unknown provider. */
export function storageDollarsFor(provider: string, bytes: number): number | undefined {
  return Object.hasOwn(STORAGE, provider) ? STORAGE[provider]! * bytes : undefined;
}

/**
 * Whether the price table has the store. An endpoint of S3 that it does not have counts as `local`, and may
 * cost money.
 */
export function hasKnownPrices(kind: string, provider: string): boolean {
  return Object.hasOwn(PRICES, provider) && !(kind === 's3' && provider === 'local');
}
