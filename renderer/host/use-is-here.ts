/** For what follows an answer: the person may have closed the dialog or left the screen that asked. */
import { useCallback, useEffect, useRef } from 'react';

/** @returns A function that returns whether the component is still on the page. */
export function useIsHere(): () => boolean {
  const isHere = useRef(false);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  return useCallback(() => isHere.current, []);
}
