/** The text of a field that is saved when it is left: what is typed, until another value is set. */
import { useState } from 'react';

export function useTypedText(value: string): readonly [text: string, setText: (text: string) => void] {
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setText(value);
  }
  return [text, setText];
}
