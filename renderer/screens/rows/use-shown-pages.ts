/** The pages of a view. A change of the view replaces them without an empty rendering in between. */
import { useEffect, useState } from 'react';
import { createRowPages, type FetchRows, type RowAnswer, type RowPages } from './row-pages.ts';

/**
 * Keeps the old pages until the first rows of the new ones arrive, unless the subject has changed.
 * @param fetchRows Must be the same function for the same view. Undefined while there are no rows.
 */
export function useShownPages<Answer extends RowAnswer>(
  subject: string,
  fetchRows: FetchRows<Answer> | undefined,
): RowPages<Answer> | undefined {
  const [shown, setShown] = useState<{ readonly of: string; readonly pages: RowPages<Answer> }>();
  useEffect(() => {
    if (!fetchRows) {
      // The pages of a closed list cannot be read when its subject is shown again.
      setShown(undefined);
      return;
    }
    const pages = createRowPages(fetchRows);
    const show = () => {
      if (pages.total() === undefined && pages.error() === undefined) return;
      stop();
      setShown({ of: subject, pages });
    };
    const stop = pages.subscribe(show);
    pages.look(0, 0);
    return () => {
      stop();
      pages.close();
    };
  }, [subject, fetchRows]);
  return shown?.of === subject ? shown.pages : undefined;
}
