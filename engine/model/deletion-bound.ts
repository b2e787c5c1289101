/** `--max-delete`: how many files a sync may delete. */
const DELETED_FILES_FREE = 100;
const DELETED_PERCENT_FREE = 50;

/** The user's bound; by default 100 files or half of the destination, whichever is more. */
export function deletionAllowed(input: {
  readonly deletes: number;
  readonly destinationFiles: number;
  readonly maxDelete?: { readonly files: number } | { readonly percent: number };
}): boolean {
  const { deletes, destinationFiles, maxDelete } = input;
  if (maxDelete === undefined) {
    return deletes <= DELETED_FILES_FREE || deletes * 100 <= destinationFiles * DELETED_PERCENT_FREE;
  }
  if ('files' in maxDelete) return deletes <= maxDelete.files;
  return deletes * 100 <= destinationFiles * maxDelete.percent;
}
