/** The pages of a view, replaced by those of another view without a flash between them. */
import { useEffect, useState } from 'react';
import { createRowPages, type FetchRows, type RowAnswer, type RowPages } from './row-pages.ts';

/**
 * The old pages stay until the first rows of the new ones arrive, but never for another subject.
 * @param fetchRows Must be the same function for the same view. Undefined: there is nothing to show yet.
 */
export function useShownPages<Answer extends RowAnswer>(
  subject: string,
  fetchRows: FetchRows<Answer> | undefined,
): RowPages<Answer> | undefined {
  const [shown, setShown] = useState<{ readonly of: string; readonly pages: RowPages<Answer> }>();
  useEffect(() => {
    if (!fetchRows) return;
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
