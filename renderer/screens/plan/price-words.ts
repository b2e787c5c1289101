import { formatDollars } from '../../../engine/api/text/numbers.ts';

export const PRICE_NOT_KNOWN = 'Not known';

/** @param isPriced False if the prices of the store are not known. */
export function priceWords({ dollars }: { readonly dollars: number }, isPriced: boolean): string {
  return isPriced ? formatDollars(dollars) : PRICE_NOT_KNOWN;
}
