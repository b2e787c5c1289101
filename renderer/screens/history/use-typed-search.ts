/** What a person types into a search, and what is searched: the same, once the typing rests. */
import { useEffect, useRef, useState } from 'react';

/** Each search reads the commit from its start, so not each letter begins one. */
const REST_MS = 200;

export interface TypedSearch {
  readonly text: string;
  readonly search: string;
  readonly type: (text: string) => void;
}

/** @param onSearch Called before another search begins. */
export function useTypedSearch(onSearch: () => void): TypedSearch {
  const [text, setText] = useState('');
  const [search, setSearch] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const begin = (next: string): void => {
    if (next !== search) onSearch();
    setSearch(next);
  };
  return {
    text,
    search,
    type: (typed) => {
      clearTimeout(timer.current);
      setText(typed);
      const next = typed.trim();
      if (next === '') begin('');
      else timer.current = setTimeout(() => begin(next), REST_MS);
    },
  };
}
