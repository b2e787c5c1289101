import { createElement, Fragment, type ReactNode } from 'react';

/** The content of a file as it is: unlike a name, it may be written from right to left with marks. */
export function ContentText({ text }: { readonly text: string | undefined }): ReactNode {
  return createElement(Fragment, null, text);
}
